from time import process_time

import pytest


@pytest.fixture
def benchmark_seconds():
    def seconds(work):
        start = process_time()
        work()
        return process_time() - start

    return seconds
