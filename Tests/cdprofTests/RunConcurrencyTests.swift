import ArgumentParser
import Testing
import WorkbenchText

@testable import WorkbenchCommands

@Suite("The number of scenarios that run concurrently")
struct RunConcurrencyTests {
  /// Options, the number of scenarios, whether they're independent, and how many run concurrently
  /// on four cores.
  @Test(
    "It's that of the cores or of --jobs, if there are enough scenarios",
    arguments: [
      ([], 5, true, 4), ([], 3, true, 3), ([], 1, true, 1), ([], 0, true, 1),
      ([], 5, false, 1), (["--jobs", "3"], 5, false, 3), (["--jobs", "6"], 9, true, 6),
      (["--jobs", "6"], 1, true, 1), (["--repeat", "3"], 5, true, 1),
      (["--repeat", "3", "--jobs", "2"], 5, true, 2), (["--repeat", "1"], 5, true, 4),
      (["--sql", "1"], 5, true, 1), (["--sql", "0"], 5, true, 4),
    ] as [([String], Int, Bool, Int)])
  func numberOfConcurrentScenarios(
    options: [String], scenarios: Int, areIndependent: Bool, expected: Int
  ) throws {
    let run = try Run.parse(["a.yml"] + options)
    #expect(run.concurrency(of: scenarios, areIndependent: areIndependent, cores: 4) == expected)
  }

  @Test("A machine with many cores doesn't run more than --jobs allows")
  func coresAreLimited() throws {
    let run = try Run.parse(["a.yml"])
    let number = run.concurrency(of: 1_000, areIndependent: true, cores: 1_000)
    #expect(number == InputLimits.jobs)
  }
}
