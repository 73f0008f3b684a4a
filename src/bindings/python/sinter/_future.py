"""Runs that somebody waits for later."""
import concurrent.futures


class Run(concurrent.futures.Future):
    """The future of a run, which cancel() ends even if it has begun."""

    def __init__(self, cancellation):
        super().__init__()
        self._cancellation = cancellation

    def cancel(self):
        """Takes the run back, or ends it soon with CancelledError; False if it is done."""
        if super().cancel():
            return True
        self._cancellation.cancel()
        return not self.done()


class Worker:
    """A thread that runs what is submitted, in its order."""

    def __init__(self):
        self._pool = concurrent.futures.ThreadPoolExecutor(1, "sinter")

    def submit(self, cancellation, call, *arguments):
        """The future of call(*ARGUMENTS)."""
        future = Run(cancellation)

        def work():
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = call(*arguments)
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it
                future.set_exception(error)
            else:
                future.set_result(result)
        self._pool.submit(work)
        return future


async def wait(future):
    """The result of FUTURE. A task that is cancelled meanwhile ends its run first."""
    import asyncio
    waiter = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(waiter)
    except asyncio.CancelledError:
        future.cancel()
        await asyncio.wait([waiter])
        if not waiter.cancelled():
            # It is known, so that nobody reports it.
            waiter.exception()
        raise
