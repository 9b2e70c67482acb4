import FailingFiles
import Foundation
import Testing
import WorkbenchFixtures

@testable import StoreTools
@testable import WorkbenchText

@Suite(
  "Reports about a store whose file can't be read",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct ReportFailureTests {
  /// A report about a store, as text without its path.
  struct Work: Sendable, CustomStringConvertible {
    let description: String
    let report: @Sendable (URL) throws -> String

    static let all = [
      Work(description: "inspect") { url in
        let data = try InspectionJSON.data(StoreInspector.inspect(url))
        return String(decoding: data, as: UTF8.self)
      },
      Work(description: "doctor") { "\(try StoreDoctor.examine($0).findings)" },
      Work(description: "rows") { url in
        let rows = try StoreRows(url, entity: "Person", where: nil)
        var texts: [String] = []
        try rows.forEachBatch { batch in texts += batch.map { "\($0.values)" } }
        try rows.check()
        return texts.joined(separator: "\n")
      },
    ]
  }

  /// No part is missing because it can't be read, and a page that can't be read isn't corrupt.
  @Test(arguments: Work.all, [FailingFiles.Cause.inputOutput, .statement, .memory])
  func reportsAreWholeOrFail(work: Work, cause: FailingFiles.Cause) throws {
    let store = try OfficeStore()
    let folder = try TemporaryFolder()
    let template = folder.file("template")
    try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: store.url, to: template.appendingPathComponent("Office.sqlite"))
    // A folder that can't be read isn't an empty one.
    let external = template.appendingPathComponent(".Office_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
    try Data("orphan".utf8).write(to: external.appendingPathComponent("orphan"))
    func report(in folder: URL) throws -> String {
      try work.report(folder.appendingPathComponent("Office.sqlite"))
        .replacing(folder.path, with: "FOLDER")
    }
    let whole = try report(in: template)
    var found = ""
    let sweep = FailureSweep(copying: template, into: folder.url) { found = try report(in: $0) }
    let limit = FailingFiles.limitOfShortOperations
    let attempts = try sweep.run(cause, limit: limit) { attempt in
      if let error = attempt.error {
        #expect(!ErrorText.of(error).isEmpty, "\(attempt.description)")
      } else {
        let (parts, known) = (found.split(separator: ","), whole.split(separator: ","))
        let different = zip(parts, known).first { $0 != $1 }
        let isWhole = found == whole
        #expect(isWhole, "\(attempt.description): \(String(describing: different))")
      }
    }
    #expect(attempts > 10)
  }

  @Test("A store that can't be read isn't called corrupt", arguments: [false, true])
  func unreadableStoresAreNotCorrupt(isPermanent: Bool) throws {
    let store = try OfficeStore()
    let folder = try TemporaryFolder()
    let copy = folder.file("Office.sqlite")
    try FileManager.default.copyItem(at: store.url, to: copy)
    var refusals = 0
    for number in 1... {
      let (result, report) = FailingFiles.run(
        below: copy, counting: [.read],
        failure: .init(.inputOutput, at: number, isPermanent: isPermanent)
      ) { try InvalidInputError.check(copy) }
      guard report.failures > 0 else { break }
      guard case .failure(let error) = result else { continue }
      refusals += 1
      let refusal = try #require(error as? InvalidInputError, "\(number)")
      #expect(refusal.kind == .missing, "\(number): \(refusal)")
      #expect(refusal.message.contains("can't be read"), "\(number): \(refusal)")
    }
    #expect(refusals > 2)
  }
}
