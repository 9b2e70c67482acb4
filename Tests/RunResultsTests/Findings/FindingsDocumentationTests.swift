import Foundation
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage

@Suite("Documentation of findings")
struct FindingsDocumentationTests {
  @Test func findingsPageIsGeneratedFromRules() throws {
    let page = try GeneratedDocument.text(of: "findings.md", generated: FindingsPage.text)
    #expect(page == FindingsPage.text, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test func everyRuleNameHasARule() {
    #expect(Rule.all.map(\.name.rawValue).sorted() == RuleName.allCases.map(\.rawValue).sorted())
    for rule in Rule.all {
      #expect([rule.meaning, rule.condition, rule.remedy].allSatisfy { $0.hasSuffix(".") })
    }
  }
}
