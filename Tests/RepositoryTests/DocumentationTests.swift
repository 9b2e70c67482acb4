import Foundation
import ProfileEvents
import Testing

@Suite("The documentation matches the code")
struct DocumentationTests {
  @Test func metricsPageIsGenerated() throws {
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      let file = Repository.root.appending(path: MetricsPage.path)
      try MetricsPage.text.write(to: file, atomically: true, encoding: .utf8)
    }
    let page = try Repository.text(of: MetricsPage.path)
    #expect(page == MetricsPage.text, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test func everyMetricIsDescribed() {
    for metric in Metric.allCases {
      #expect(!metric.unit.isEmpty && metric.meaning.hasSuffix("."))
    }
  }

  /// Checks links and images.
  @Test(arguments: Documents.all)
  func everyLinkHasATarget(document: String) throws {
    let folder = (document as NSString).deletingLastPathComponent
    for match in try Repository.text(of: document).matches(of: /\]\(([^)#\s]+)[^)]*\)/) {
      let target = String(match.1)
      if target.contains("://") { continue }
      let path = folder.isEmpty ? target : "\(folder)/\(target)"
      #expect(Repository.has(path), "\(document) links to \(target), which doesn't exist")
    }
  }

  @Test(arguments: Documents.all)
  func everyNamedMakeTargetExists(document: String) throws {
    let makefile = try Repository.lines(of: "Makefile")
    let targets = Set(makefile.compactMap { $0.firstMatch(of: /^([a-z]+):/).map { String($0.1) } })
    for match in try Repository.text(of: document).matches(of: /`make ([a-z]+)`/) {
      #expect(targets.contains(String(match.1)), "\(document): no `make \(match.1)`")
    }
  }
}
