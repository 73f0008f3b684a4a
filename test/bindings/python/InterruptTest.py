#!/usr/bin/env python3
"""Signals end compiling, quantising, training and runs; runs that are waited for later, and that are cancelled.

    test/bindings/python/InterruptTest.py BUILD
"""
import asyncio
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

import sinter  # noqa: E402

try:
    import numpy
except ImportError as missing:
    print(f"InterruptTest.py: skipped: {missing}")
    sys.exit(77)

# Adds 1.0 as often as the input says.
LOOP = b"""func.func @main(%n: tensor<i64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %i = stablehlo.constant dense<0> : tensor<i64>
  %0:2 = stablehlo.while(%k = %i, %x = %zero) : tensor<i64>, tensor<f64>
    cond {
      %1 = stablehlo.compare LT, %k, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i64>
      %1 = stablehlo.add %k, %one : tensor<i64>
      %2 = stablehlo.constant dense<1.0> : tensor<f64>
      %3 = stablehlo.add %x, %2 : tensor<f64>
      stablehlo.return %1, %3 : tensor<i64>, tensor<f64>
    }
  return %0#1 : tensor<f64>
}
"""
FOREVER = numpy.array(1 << 60)


def many_kernels(count):
    """A model that takes long to compile: each of its products has sizes of its own."""
    lines, at = [], "%x"
    for i in range(count):
        size, after = 16 + i, 17 + i
        weights = numpy.sin(numpy.arange(size * after, dtype=numpy.float32)) / size
        lines += [f'  %w{i} = stablehlo.constant dense<"0x{weights.tobytes().hex().upper()}"> : tensor<{size}x{after}xf32>',
                  f"  %p{i} = stablehlo.dot_general {at}, %w{i}, contracting_dims = [1] x [0] : "
                  f"(tensor<?x{size}xf32>, tensor<{size}x{after}xf32>) -> tensor<?x{after}xf32>",
                  f"  %t{i} = stablehlo.tanh %p{i} : tensor<?x{after}xf32>"]
        at = f"%t{i}"
    last = f"tensor<?x{16 + count}xf32>"
    return "\n".join([f"func.func @main(%x: tensor<?x16xf32>) -> {last} {{", *lines, f"  return {at} : {last}", "}"]).encode()


def load(text):
    return sinter.load(text, name="model.mlir", no_cache=True)


class Signals(unittest.TestCase):
    def interrupted(self, call, after):
        """Seconds of CALL, which a KeyboardInterrupt ends that comes AFTER seconds."""
        timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
            return time.monotonic() - begin
        finally:
            timer.cancel()

    def test_runs(self):
        session = sinter.compile(load(LOOP))
        # Not only the first one, whose length nobody knows.
        for _ in range(2):
            self.assertLess(self.interrupted(lambda: session(FOREVER), 0.3), 20)
        out = numpy.zeros(())
        binding = session.bind([FOREVER], out)
        self.assertLess(self.interrupted(binding, 0.3), 20)
        self.assertEqual(session(numpy.array(5)), 5)

    def test_what_a_handler_raises(self):
        class Alarm(Exception):
            pass

        def handler(number, frame):
            raise Alarm
        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        session = sinter.compile(load(LOOP))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertRaises(Alarm, session, FOREVER)

    def test_a_handler_that_raises_nothing(self):
        calls = []
        before = signal.signal(signal.SIGALRM, lambda *given: calls.append(given))
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        session = sinter.compile(load(LOOP))
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        self.assertEqual(session(numpy.array(3000000)), 3000000)
        self.assertEqual(len(calls), 1)

    def ends_early(self, call):
        """Interrupts CALL early: it ends soon, and so has the thread that made it."""
        begin = time.monotonic()
        call()
        whole = time.monotonic() - begin
        self.assertLess(self.interrupted(call, whole / 5), 0.8 * whole)
        self.assertEqual([each.name for each in threading.enumerate() if each.name == "sinter"], [])

    def test_compiling(self):
        model = load(many_kernels(24))
        self.ends_early(lambda: sinter.compile(model, threads=1))
        # Nothing of it is left that ends the next call.
        x = numpy.ones((2, 16), numpy.float32)
        self.assertEqual(sinter.compile(model, threads=1)(x).shape, (2, 40))

    def test_comparing(self):
        model = load(many_kernels(12))
        x = numpy.ones((2, 16), numpy.float32)
        self.ends_early(lambda: model.compare(model, x, threads=1))

    def test_training(self):
        # The first step compiles.
        trainer = sinter.Trainer(load(many_kernels(12)), loss="mean-squared", threads=1, no_cache=True)
        batch = numpy.ones((2, 16), numpy.float32), numpy.ones((2, 28), numpy.float32)
        self.interrupted(lambda: trainer.step(batch), 0.1)
        self.assertEqual([each.name for each in threading.enumerate() if each.name == "sinter"], [])
        losses = [trainer.step(batch) for _ in range(3)]
        self.assertEqual(sorted(losses, reverse=True), losses)

    def test_the_process_ends_well(self):
        text = f"""
            import os, signal, sys, threading
            sys.path.insert(0, {os.path.join(BUILD, "python")!r})
            import sinter
            model = sinter.load({many_kernels(12)!r}, name="model.mlir", no_cache=True)
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                sinter.compile(model, threads=1)
            except KeyboardInterrupt:
                print("interrupted")
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "interrupted\n", ""))

    def test_quantising(self):
        model = load(many_kernels(4))
        x = numpy.random.default_rng(1).standard_normal((4096, 16)).astype(numpy.float32)
        self.assertLess(self.interrupted(lambda: model.quantize([x] * 20000, **{"for": "any"}), 0.5), 60)

    def test_threads_that_are_not_the_main_one(self):
        session = sinter.compile(load(LOOP))
        results = []
        thread = threading.Thread(target=lambda: results.append(session(numpy.array(1000))))
        thread.start()
        thread.join()
        self.assertEqual(results, [1000])


class Futures(unittest.TestCase):
    def setUp(self):
        self.session = sinter.compile(load(LOOP))

    def run_async(self, count):
        return self.session.run_async({"arg0": numpy.array(count)})

    def test_submit(self):
        futures = [self.session.submit({"arg0": numpy.array(i)}) for i in range(20)]
        name = self.session.outputs[0].name
        self.assertEqual([float(future.result()[name]) for future in futures], list(range(20)))
        self.assertEqual(len(concurrent.futures.wait(futures, timeout=0).done), 20)
        out = numpy.zeros(())
        self.assertIs(self.session.submit({"arg0": numpy.array(7)}, out).result()[name], out)
        self.assertEqual(out, 7)

    def test_mistakes(self):
        self.assertRaisesRegex(sinter.UsageError, "no input 'n'", self.session.submit, {"n": numpy.array(1)})
        future = self.session.submit({"arg0": numpy.array(1.0)})
        self.assertRaisesRegex(sinter.UsageError, "xf64|f64", future.result)
        self.assertIsInstance(future.exception(), sinter.UsageError)

    def test_futures_are_cancelled(self):
        running = self.session.submit({"arg0": FOREVER})
        waiting = self.session.submit({"arg0": FOREVER})
        while not running.running():
            time.sleep(0.01)
        self.assertTrue(waiting.cancel())
        self.assertTrue(waiting.cancelled())
        self.assertTrue(running.cancel())
        self.assertRaises(sinter.CancelledError, running.result, 60)
        self.assertFalse(running.cancel())
        self.assertEqual(self.session(numpy.array(3)), 3)

    def test_a_session_may_end_before_its_futures(self):
        future = self.session.submit({"arg0": numpy.array(1000000)})
        name = self.session.outputs[0].name
        del self.session
        self.assertEqual(future.result()[name], 1000000)

    def test_await(self):
        async def main():
            ticks = []

            async def tick():
                while True:
                    ticks.append(1)
                    await asyncio.sleep(0.001)
            ticker = asyncio.create_task(tick())
            results = await asyncio.gather(*(self.run_async(each) for each in (1, 3000000, 3)))
            ticker.cancel()
            return results, len(ticks)
        results, ticks = asyncio.run(main())
        self.assertEqual([float(*each.values()) for each in results], [1, 3000000, 3])
        self.assertGreater(ticks, 3)

    def test_tasks_are_cancelled(self):
        reported = []

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.run_async(1 << 60), 0.2)
            with self.assertRaisesRegex(sinter.UsageError, "f64"):
                await self.session.run_async({"arg0": numpy.array(1.0)})
            return await self.run_async(4)
        [result] = asyncio.run(main()).values()
        self.assertEqual(result, 4)
        self.assertEqual(reported, [])

    def test_beside_threads(self):
        wrong = []

        def work(seed):
            for i in range(30):
                if self.session(numpy.array(seed + i)) != seed + i:
                    wrong.append((seed, i))
        threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(3)]
        for thread in threads:
            thread.start()

        async def main():
            return [float(*(await self.run_async(i)).values()) for i in range(30)]
        self.assertEqual(asyncio.run(main()), list(range(30)))
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        unittest.main()
