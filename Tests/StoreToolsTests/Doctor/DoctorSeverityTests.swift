import Foundation
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Severities of the doctor's findings")
struct DoctorSeverityTests {
  private static let lowCounter = "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'"
  private static let redundant = "CREATE INDEX EXTRA ON ZNOTE (ZPERSON)"

  @Test func onlyErrorsFailUnlessTheCheckIsStrict() throws {
    let store = try OfficeStore()
    let intact = try StoreDoctor.examine(store.url)
    #expect(!intact.fails(strictly: false) && !intact.fails(strictly: true))
    #expect(intact.severities.isEmpty)

    try store.run(Self.redundant)
    let noted = try StoreDoctor.examine(store.url)
    #expect(noted.findings.map(\.severity) == [.note])
    #expect(!noted.fails(strictly: false) && noted.fails(strictly: true))
    #expect(DoctorText.lines(noted).first?.hasSuffix("   1 note") == true)
    #expect(DoctorText.lines(noted).contains { $0.hasPrefix("note: index-redundant   ") })

    try store.run(Self.lowCounter)
    let failing = try StoreDoctor.examine(store.url)
    #expect(failing.fails(strictly: false))
    #expect(failing.severities == "1 error, 1 note")
    let json = try JSONSerialization.jsonObject(with: try DoctorJSON.data(failing))
    let findings = (json as? [String: Any])?["findings"] as? [[String: Any]]
    #expect(findings?.compactMap { $0["severity"] as? String } == ["error", "note"])
  }

  /// Without a unique index, saves store duplicates; without another one, they're only slow.
  @Test func missingIndexIsAnErrorIfItsUnique() throws {
    for (index, severity) in [
      ("Z_Person_UNIQUE_code", DoctorSeverity.error), ("Z_Party_byName", .warning),
    ] {
      let store = try OfficeStore()
      try store.run("DROP INDEX \(index)")
      let findings = try StoreDoctor.examine(store.url).findings
      #expect(findings.map(\.rule) == [.indexMissing])
      #expect(findings.map(\.severity) == [severity])
    }
  }

  @Test func errorsAreMoreSevereThanWarningsAndNotes() {
    #expect(DoctorSeverity.allCases.sorted() == [.note, .warning, .error])
    #expect(
      DoctorSeverity.allCases.allSatisfy { severity in
        DoctorRuleName.allCases.contains { $0.severity == severity }
      })
  }
}
