import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Blocks of steps that repeat")
struct RepeatBlockTests {
  private func read(_ steps: String, variants: String = "") throws -> Scenario {
    let url = PackagedScenarios.folder.appendingPathComponent("test.yml")
    let text = """
      name: Repeat
      model: Moody
      data: {Country: {count: 2}, Mood: {count: 3}}
      steps:
      \(steps)
      \(variants)
      """
    return try ScenarioReader.read(text: text, url: url, path: "test.yml")
  }

  @Test func stepsRepeatInOrderAlsoInBlocks() throws {
    let scenario = try read(
      """
        - {fetch: Country, as: countries}
        - repeat: 2
          steps:
            - {fetch: Mood, limit: 2, as: moods, expect: {selects: 1}}
            - repeat: 3
              steps: [touch moods date]
        - {save: null}
      """,
      variants: "variants: [{name: few, set: {moods.limit: 1}, expect: {selects(moods): 2}}]")
    let block = ["fetch Mood limit 2 as moods"] + Array(repeating: "touch moods date", count: 3)
    #expect(scenario.steps.map(\.text) == ["fetch Country as countries"] + block + block + ["save"])
    #expect(scenario.steps.map(\.location.line) == [5, 8, 10, 10, 10, 8, 10, 10, 10, 11])
    #expect(scenario.steps.count { $0.expect != nil } == 2)
    let changed = scenario.variants[0].steps(sharing: scenario.steps)
    #expect(changed.count { $0.text == "fetch Mood limit 1 as moods" } == 2)
  }

  @Test(arguments: [
    ("{repeat: 3}", "5:6: error: `repeat` has no `steps`"),
    ("{repeat: 0, steps: [save]}", "5:14: error: `repeat` needs an integer from 1 to 1,000"),
    ("{repeat: often, steps: [save]}", "5:14: error: `repeat` needs an integer from 1 to 1,000"),
    ("{repeat: 2, steps: save}", "5:24: error: `steps` must be a list of steps"),
    ("{repeat: 2, step: [save]}", "5:17: error: a `repeat` block has no key `step`"),
    ("{repeat: 2, steps: [touch mods date]}", "5:31: error: there's no result `mods`"),
    (
      "{repeat: 1000, steps: [{repeat: 11, steps: [save]}]}",
      "5:14: error: the blocks up to this one add 10,999 steps, and the limit is 10,000"
    ),
  ])
  func invalidBlocksAreErrors(block: String, message: String) {
    let error = #expect(throws: ScenarioDiagnostics.self) { try read("  - \(block)") }
    #expect(error?.description.contains("test.yml:\(message)") == true, "\(error as Any)")
  }
}
