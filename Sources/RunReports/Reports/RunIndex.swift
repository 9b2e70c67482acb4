import CEmbeddedFiles
import Foundation
import ManagedModel
package import RunResults
import WorkbenchText

/// The contents of a folder of reports, as a self-contained HTML page.
///
/// The page lists the scenarios by folder, each with its headline, whether its expectations are
/// met, and a link to its page.
package struct RunIndex {
  /// The name of the file in the folder of the reports, without its extension.
  package static let name = "index"

  /// A scenario that ran, or one whose run failed.
  package struct Entry: Sendable {
    /// The path of its reports in the folder, without an extension.
    package let name: String
    let title: String
    let chapter: Int?
    let passes: Bool
    let state: String
    /// The number of findings in words; `nil` if there are none.
    let findings: String?
    let parts: [ReportHeadline.Part]
    let hasPage: Bool

    /// - Parameters:
    ///   - result: The result of the scenario's run.
    ///   - name: The path of its reports in the folder, without an extension.
    package init(_ result: RunResult, named name: String) {
      self.name = name
      title = result.scenario
      chapter = result.chapter
      passes = result.passes
      state = NumberText.counted(result.metExpectations, of: result.expectations, "expectation")
      let names = Set(result.variants.flatMap { $0.findings.map(\.name) })
      findings = names.isEmpty ? nil : NumberText.counted(names.count, "finding")
      parts = ReportHeadline(result, lead: ReportMetrics(result).lead).parts
      hasPage = true
    }

    /// Creates the entry of a scenario whose run failed, so there's no page to link to.
    ///
    /// - Parameters:
    ///   - title: The scenario's name.
    ///   - chapter: The scenario's chapter.
    ///   - name: The path of its reports in the folder, without an extension.
    ///   - message: The error.
    package init(failed title: String, chapter: Int?, named name: String, message: String) {
      self.name = name
      self.title = title
      self.chapter = chapter
      passes = false
      state = "not finished"
      findings = nil
      parts = [ReportHeadline.Part(text: message, isNumber: false)]
      hasPage = false
    }
  }

  /// The scenarios of a folder.
  struct Folder {
    let id: String
    let heading: String
    let entries: [Line]
  }

  /// A scenario on the page.
  struct Line {
    let title: String
    /// The relative URL of the report.
    let link: String?
    let passes: Bool
    let state: String
    let findings: String?
    let parts: [ReportHeadline.Part]
  }

  let title: String
  let passes: Bool
  let summary: String
  let folders: [Folder]
  let hasFolders: Bool
  let command: String
  let version = ToolVersion.current
  /// What reloads the page when it's written again; `nil` if nothing does.
  private(set) var reload: PageReload?

  /// - Parameters:
  ///   - title: The name of the folder that contains the scenarios.
  ///   - entries: The scenarios, in the order of the page.
  ///   - command: The command that writes the reports.
  package init(title: String, entries: [Entry], command: String) {
    self.title = title
    self.command = command
    passes = entries.allSatisfy(\.passes)
    summary =
      NumberText.counted(entries.count(where: \.passes), of: entries.count, "scenario")
      + " passed"
    var names: [String] = []
    for entry in entries where !names.contains(entry.folder) {
      // Scenarios that aren't in a folder are the first ones.
      names.insert(entry.folder, at: entry.folder.isEmpty ? 0 : names.endIndex)
    }
    folders = names.enumerated().map { index, name in
      let own = entries.filter { $0.folder == name }
      return Folder(
        id: "folder-\(index + 1)", heading: RunIndex.heading(of: name, own),
        entries: own.map(\.line))
    }
    hasFolders = folders.count > 1
  }

  /// Returns the page as HTML.
  ///
  /// - Parameter reload: What reloads the page when it's written again; `nil` if nothing does.
  /// - Throws: An error of the template's parser, which a test rules out.
  package func page(reloading reload: PageReload? = nil) throws -> String {
    var page = self
    page.reload = reload
    return try PageTemplate.render(
      String(cString: embedded_index_html()), page, nonce: reload?.nonce)
  }

  /// Returns `Chapter 6: fetching` for a folder `06-fetching` of scenarios of that chapter, and the
  /// name of any other folder.
  private static func heading(of folder: String, _ entries: [Entry]) -> String {
    guard !folder.isEmpty else { return "Scenarios" }
    guard let match = folder.wholeMatch(of: /0*([0-9]+)[-_ ](.+)/), let number = Int(match.1),
      entries.allSatisfy({ $0.chapter == number })
    else { return folder }
    return "Chapter \(number): \(match.2.replacing(/[-_]/, with: " "))"
  }
}

extension RunIndex.Entry {
  /// The path of the folder that contains the reports, empty for the topmost one.
  fileprivate var folder: String {
    name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
  }

  fileprivate var line: RunIndex.Line {
    // Without `./`, a browser would take a colon in the name for the end of a scheme.
    let path = RunIndex.url("\(name).html")
    return RunIndex.Line(
      title: title, link: hasPage ? "./\(path)" : nil, passes: passes, state: state,
      findings: findings, parts: parts)
  }
}

extension RunIndex {
  /// Returns a relative path as a URL.
  static func url(_ path: String) -> String {
    path.addingPercentEncoding(withAllowedCharacters: pathCharacters) ?? path
  }

  private static let pathCharacters = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
}
