"""A file with a conversation in each line, compressed by PySpark with the function that `octavo compress` uses.

    python examples/pyspark_lines.py chats.jsonl smaller 2000

Rows keep their order. A line that cannot be compressed has no text, and says why in `error`.
"""

from __future__ import annotations

import sys
from functools import partial

from pyspark import SparkConf, SparkContext

import octavo

LINES_PER_TASK = 1_000
"""Few enough that all cores end at about the same time, enough that starting a task costs nothing beside it."""


def main(source: str, target: str, budget: str = "2000") -> None:
    with SparkContext(
        conf=SparkConf().setAppName("octavo").setIfMissing("spark.master", "local[*]")
    ) as spark:
        lines = spark.textFile(source)
        tasks = max(lines.getNumPartitions(), lines.count() // LINES_PER_TASK)
        made = spark.textFile(source, tasks).map(partial(octavo.compress_line, budget=int(budget))).cache()
        made.filter(lambda one: not one.error).map(lambda one: one.text).saveAsTextFile(target)
        failed = made.filter(lambda one: bool(one.error)).count()
        before, after = made.map(lambda one: one.before).sum(), made.map(lambda one: one.after).sum()
        print(f"{made.count()} conversations: {before} -> {after} tokens, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
