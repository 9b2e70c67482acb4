"""Runs the commands and the SQL of Documentation/fleet.md, and compares the answers of both databases.

    fleet.py CDPROF DATABASE LOGS
"""

import csv
import io
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from generator import AFTER, BEFORE, COUNTS, FAULT, FETCHES, STORM_OF_EACH_FOURTH, Fleet, scenario

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    """Returns the heading, the language, and the text of each block of code."""
    heading, found = "", []
    for match in re.finditer(r"^#+ ([^\n]+)$|^```(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S):
        if match[1]:
            heading = match[1]
        else:
            found.append((heading, match[2], match[3]))
    return found


def expected(fleet):
    """Returns the rows of each question, by heading, in the order of the page."""

    def totals(release, statement=None):
        return [total for total in fleet.totals
                if total.release == release and statement in (None, total.statement)]

    def mean(release, statement, value, weight):
        found = totals(release, statement)
        return sum(value(total) for total in found) / sum(weight(total) for total in found)

    def per_log(statement, release):
        return sum(total.executions for total in totals(release, statement)) / fleet.logs[release]

    def milliseconds(statement, release):
        return mean(release, statement, lambda one: one.time * one.executions / 10, lambda one: one.executions)

    def rows(statement, release):
        return mean(release, statement, lambda one: one.rows * one.executions, lambda one: one.executions)

    def percentile(values, part):
        position = part * (len(values) - 1)
        low = math.floor(position)
        return values[low] + (position - low) * (values[min(low + 1, len(values) - 1)] - values[low])

    _, _, slower, larger, _, new = FETCHES
    timed = [one for one in FETCHES + [FAULT] if one.executions[1] > 0]
    slowest, percentiles = [], []
    for statement in timed:
        found = totals(AFTER, statement)
        slowest.append((
            statement.key, sum(one.executions for one in found),
            sum(one.time * one.executions for one in found) / 1e4, max(one.time for one in found) / 10))
        times = sorted(one.time / 10 for one in found)
        percentiles.append((
            statement.key, len(found), percentile(times, 0.5), percentile(times, 0.95), times[-1]))
    return {
        "Which statement grew since the last release?": [
            [(FAULT.key, per_log(FAULT, BEFORE), per_log(FAULT, AFTER))],
            [(slower.key, milliseconds(slower, BEFORE), milliseconds(slower, AFTER))],
            [(larger.key, rows(larger, BEFORE), rows(larger, AFTER))],
        ],
        "Which statements are new?": [[(new.key, per_log(new, AFTER), milliseconds(new, AFTER))]],
        "Which statements are the slowest of all devices?": [sorted(slowest, key=lambda row: -row[2])],
        "How slow is it for most, and for the slowest devices?": [sorted(percentiles, key=lambda row: -row[3])],
        "Which releases have fault storms?": [
            [(AFTER, "Country", 1.0, FAULT.executions[1]), (BEFORE, "Country", 0.25, STORM_OF_EACH_FOURTH)]],
        "Which scenarios cost more than in the last release?": [[("Count", "all", COUNTS[BEFORE], COUNTS[AFTER])]],
    }


def same(found, wanted):
    """Whether rows are equal, apart from the precision of numbers."""
    return len(found) == len(wanted) and all(
        len(one) == len(other) and all(
            str(a) == b if isinstance(b, str) else math.isclose(float(a), b, rel_tol=1e-9)
            for a, b in zip(one, other))
        for one, other in zip(found, wanted))


class Run:
    def __init__(self, program, database, logs):
        self.folder = Path(tempfile.mkdtemp(prefix="fleet."))
        self.environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "DATABASE": database}
        self.duck = duckdb.connect(str(self.folder / "fleet.duckdb"))
        self.fleet = Fleet(logs)
        # The page's paths are relative.
        os.chdir(self.folder)

    def shell(self, text, title):
        start = time.monotonic()
        subprocess.run(["sh", "-euc", text], cwd=self.folder, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)
        print(f"{time.monotonic() - start:8.2f} s  {title}")

    def in_duckdb(self, sql):
        return self.duck.execute(sql).fetchall()

    def in_postgres(self, sql):
        output = subprocess.run(
            ["psql", self.environment["DATABASE"], "-v", "ON_ERROR_STOP=1", "-q", "--csv", "-t", "-f", "-"],
            input=sql, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [tuple(row) for row in csv.reader(io.StringIO(output))]

    def database(self, name, sql, title):
        start = time.monotonic()
        rows = {"DuckDB": self.in_duckdb, "PostgreSQL": self.in_postgres}[name](sql)
        print(f"{time.monotonic() - start:8.2f} s  {title}, {name}")
        return rows

    def results(self, command):
        """Runs the page's command for both releases, with the scenario of each."""
        shutil.copytree(ROOT / "Scenarios/Models", self.folder / "Scenarios/Models")
        assert AFTER in command
        for release, count in COUNTS.items():
            (self.folder / "Scenarios/count.yml").write_text(scenario(count))
            self.shell(command.replace(AFTER, release), f"a scenario of {release}")

    def compare(self):
        """Runs all blocks; returns the number of wrong answers."""
        lines, size = self.fleet.write(self.folder)
        print(f"{sum(self.fleet.logs.values()):,} logs, {lines:,} lines, {size / 1e6:.1f} MB")
        answers = expected(self.fleet)
        wrong = 0
        for heading, language, text in blocks(ROOT / "Documentation/fleet.md"):
            if language == "sh":
                if "cdprof run" in text:
                    self.results(text)
                else:
                    self.shell(text, heading)
                continue
            names = [name for name in ("DuckDB", "PostgreSQL") if name in heading] or ["DuckDB", "PostgreSQL"]
            wanted = answers[heading].pop(0) if heading.endswith("?") else None
            for name in names:
                found = self.database(name, text, heading)
                if wanted is not None and not same(found, wanted):
                    wrong += 1
                    print(f"{name} answers {heading}", *found, "instead of", *wanted, sep="\n  ")
        missing = [heading for heading, left in answers.items() if left]
        assert not missing, f"the page doesn't have all questions of {missing}"
        return wrong

    def close(self):
        self.duck.close()
        os.chdir(ROOT)
        shutil.rmtree(self.folder)


if __name__ == "__main__":
    run = Run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    try:
        wrong = run.compare()
    finally:
        run.close()
    print("both databases give the expected answers" if wrong == 0 else f"{wrong} answers are wrong")
    sys.exit(min(wrong, 1))
