"""Long calls that a signal ends, KeyboardInterrupt say.

Python runs signal handlers in the main thread, and only while that is not in a call of the library. So long calls of the main
thread are made by another one, for which it waits.
"""
from . import _sinter


def interruptible(call, stop=None):
    """call(), which another thread makes for the main one.

    What a signal handler raises ends the wait. With STOP, which asks the call to end soon, the call has ended before; a second
    signal does not wait for that. Without, the call goes on, its result is dropped, and the process ends after it."""
    import threading
    if threading.current_thread() is not threading.main_thread():
        return call()
    results, errors, done = [], [], threading.Lock()

    def work():
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            errors.append(error)
        finally:
            done.release()

    done.acquire()
    thread = threading.Thread(target=work, name="sinter")
    try:
        thread.start()
    except RuntimeError:
        # There are no new threads at the end of a process.
        return call()
    try:
        done.acquire()
    except BaseException:
        if stop:
            stop()
            thread.join()
        raise
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()
    return results[0]


def run(run_here, cancellation, *arguments):
    """run_here(*ARGUMENTS, CANCELLATION), by which a signal cancels it."""
    cancellation = cancellation or _sinter.Cancellation()
    return interruptible(lambda: run_here(*arguments, cancellation), cancellation.cancel)
