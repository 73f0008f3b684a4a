#!/usr/bin/env python3
# Covers: driver GridOptions
# Covers: engine GridRun
# Covers: engine MpiLibrary
# Covers: graph Collectives
# Covers: interpreter Distribution RunParallel
# Covers: runtime Collectives Communicator ProcessGroups ThreadGroup
# Covers: runtime/mpi MpiCommunicator
"""Runs programs as grids of processes: as threads and under mpirun, on both backends; all must agree.

    test/driver/DistributionTest.py build/bin/sinter
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distribution")
SINTER = ""
MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4"]


def run(*arguments, prefix=()):
    command = [*prefix, SINTER, *arguments]
    environment = dict(os.environ)
    if prefix:
        # Open MPI's plugins keep memory until the process ends; our own is checked where the processes are threads.
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, env=environment)


def grid(backend, prefix=()):
    program = os.path.join(HERE, "collectives.mlir")
    done = run("run", program, "--replicas", "2", "--partitions", "2", "--backend", backend, "--no-cache", prefix=prefix)
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr


class DistributionTest(unittest.TestCase):
    def test_threads_agree_on_both_backends(self):
        status, lines, errors = grid("interpreter")
        self.assertEqual((status, len(lines)), (0, 4 * 10 * 2), errors)
        self.assertEqual(grid("cpu")[:2], (0, lines), grid("cpu")[2])

    def test_reductions_of_all_kinds(self):
        outputs = set()
        for options in ["interpreter"], ["cpu"], ["cpu", "--disable-patterns", "all"]:
            done = run("run", os.path.join(HERE, "reductions.mlir"), "--replicas", "3", "--input", "random", "--no-cache",
                       "--backend", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs.add(done.stdout)
        self.assertEqual(len(outputs), 1)

    def test_mpi_agrees_with_threads(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        lines = grid("interpreter")[1]
        for backend in ["interpreter", "cpu"]:
            status, theirs, errors = grid(backend, MPI)
            self.assertEqual((status, theirs), (0, lines), errors)

    def test_a_grid_of_another_size_is_refused(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        program = os.path.join(HERE, "collectives.mlir")
        done = run("run", program, "--replicas", "3", "--backend", "interpreter", "--no-cache", prefix=MPI)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("mpirun started 4 processes", done.stderr)

    def test_different_programs_are_refused(self):
        """Three processes that add and one that takes the maximum."""
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = "stablehlo.all_reduce"(%x) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.{} %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) {{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""
        with tempfile.TemporaryDirectory() as folder:
            for name in "add", "maximum":
                with open(os.path.join(folder, name + ".mlir"), "w") as file:
                    file.write(text.format(name))
            part = lambda name, *options: [SINTER, "run", os.path.join(folder, name + ".mlir"), "--replicas", "4", "--input", "random", "--no-cache", *options]
            environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

            def together(first, other):
                return subprocess.run([*MPI[:-1], "3", *first, ":", "-n", "1", *other], capture_output=True, text=True, errors="replace", timeout=120, env=environment)

            for backend in "interpreter", "cpu":
                done = together(part("add", "--backend", backend), part("add", "--backend", backend))
                self.assertEqual(done.returncode, 0, done.stderr)
                for other in part("maximum", "--backend", backend), part("add", "--backend", backend, "--allow", "reassociate"):
                    done = together(part("add", "--backend", backend), other)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("the processes run different programs: process 3", done.stderr)

    def test_who_has_ended_leaves_nobody_waiting(self):
        program = os.path.join(HERE, "leaves.mlir")
        told = ("no process can go on: process 0 (replica 0, partition 0) waits in stablehlo.all_reduce for others; "
                "process 1 (replica 1, partition 0) has ended")
        for prefix in [()] + ([MPI] if shutil.which("mpirun") else []):
            for backend in ["interpreter", "cpu"]:
                done = run("run", program, "--replicas", "4" if prefix else "2", "--input", "random", "--no-cache",
                           "--backend", backend, prefix=prefix)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(told, done.stderr)

    def test_who_comes_last_tells_the_others(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        program = os.path.join(HERE, "late.mlir")
        done = run("run", program, "--replicas", "2", "--no-cache", "--backend", "interpreter", prefix=[*MPI[:-1], "2"])
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 4), done.stderr)

    def test_large_exchanges(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        program = os.path.join(HERE, "large.mlir")
        arguments = "run", program, "--replicas", "4", "--no-cache", "--backend", "cpu"
        threads, theirs = run(*arguments), run(*arguments, prefix=MPI)
        self.assertEqual(theirs.returncode, 0, theirs.stderr)
        self.assertEqual(sorted(theirs.stdout.splitlines()), sorted(threads.stdout.splitlines()))
        self.assertIn("5e+06", theirs.stdout)

    def check(self, backend, program):
        return run("test", os.path.join(HERE, program), "--backend", backend, "--timeout", "60")

    def test_programs_that_run_processes(self):
        for backend in ["interpreter", "cpu"]:
            done = self.check(backend, "parallel.mlir")
            self.assertEqual((done.returncode, done.stdout.strip()), (0, "2 passed, 0 failed"), backend)

    def test_a_wrong_value_in_a_process(self):
        for backend in ["interpreter", "cpu"]:
            done = self.check(backend, "wrong.mlir")
            self.assertEqual(done.returncode, 1)
            self.assertIn("1 of 1 values differ, most at []: got 1, expected 5", done.stdout)

    def test_a_function_that_runs_itself(self):
        done = self.check("cpu", "recursive.mlir")
        self.assertIn("the function 'again' runs itself in parallel", done.stdout)
        self.assertIn("processes run processes more than 16 times over", self.check("interpreter", "recursive.mlir").stdout)

    def test_a_deadlock_is_an_error_at_once(self):
        for backend in ["interpreter", "cpu"]:
            done = self.check(backend, "deadlock.mlir")
            self.assertEqual(done.returncode, 1)
            self.assertIn("no process can go on: process 0 (replica 0, partition 0) waits in stablehlo.all_reduce for others; "
                          "process 1 (replica 1, partition 0) has ended", done.stdout)


if __name__ == "__main__":
    SINTER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
