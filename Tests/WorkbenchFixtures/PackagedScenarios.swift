package import Foundation
package import RunResults
import ScenarioLanguage

/// Finds the scenario files of the package, whatever folder the tests run in.
package enum PackagedScenarios {
  package static var folder: URL {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let scenarios = folder.appendingPathComponent("Scenarios", isDirectory: true)
      if FileManager.default.fileExists(atPath: scenarios.appendingPathComponent("faults.yml").path)
      {
        return scenarios
      }
    }
    return folder
  }

  /// All scenario files, sorted by path.
  package static var all: [URL] {
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (files ?? []).filter { $0.hasSuffix(".yml") }.sorted()
      .map { folder.appendingPathComponent($0) }
  }
}

extension RunResult {
  /// A line for each unmet expectation.
  package var unmetExpectations: [String] {
    variants.flatMap { variant in
      variant.expectations.filter { !$0.isMet }.map { expectation in
        "\(variant.name) · \(expectation.metric): expected \(expectation.expectedText), "
          + "actual \(expectation.actual): \(expectation.differences)"
      }
    }
  }
}
