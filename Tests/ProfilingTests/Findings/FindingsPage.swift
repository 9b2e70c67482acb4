@testable import ScenarioLanguage

/// `Documentation/findings.md`, written from the rules in code.
enum FindingsPage {
  static var text: String {
    let rules = RuleName.allCases
    let rows = rules.map { rule in
      "| [`\(rule.rawValue)`](#\(rule.rawValue)) | \(rule.chapter) | \(rule.meaning) |"
    }
    let table = rows.joined(separator: "\n")
    let sections = rules.map(section).joined(separator: "\n")
    return """
      # Findings

      <!-- Written from Tests/ProfilingTests/Findings/RuleName+Texts.swift. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter FindingsDocumentationTests -->

      A finding says that work costs more than it should: which rule, on what, from which line, how often,
      the SQL that repeats, and the cure as code. `tried` is the count that the cure gave when it was run
      here: by another variant that does the same with the cured fetch (and without the sort in memory that
      the cure spares), or on a copy of the store for an index. Otherwise it says `not tried`. Findings of one name from one line are one.

      A scenario lists the findings it wants, exactly; where it lists none, none may fire. What is known
      and meant is silenced for the whole file, by rule or by rule and subject:

      ```yaml
      silence: [unused-prefetch, fault-storm(Mood.country)]
      ```

      The subject of `ineffective-prefetch`, `unused-prefetch` and `count-per-row` is a relationship,
      `Mood.country`; that of `fault-storm` the relationship that was gone through, or the entity where objects
      of a fetch were read; that of every other rule an entity.

      The rules speak of what they can see for certain and are silent otherwise. Where an expectation is
      missed and a finding explains the surplus, the sentence behind it begins with `likely:`.

      | rule | chapter | means |
      | --- | --- | --- |
      \(table)

      \(sections)
      ## What no rule says

      What a program does with its objects once it has them, and what other threads do meanwhile, is in no
      event. So there's no rule for these:

      | advice | why it cannot be told | what shows it |
      | --- | --- | --- |
      | let SQLite add up (chapter 6) | to add the values of an attribute up, a program reads it of every object, and so does one that shows it | `numbers-alone.yml`: `result dictionaries` and `columns sum(…)` beside the objects |
      | a `willSave` that sets equal values (chapter 7) | scenarios and the shell run objects without a class of the program's own | `saveRounds` of `costs(of:)` in the program's tests; an error 134070 names the object |
      | two contexts that wait at one coordinator (chapter 8) | steps run one after the other, so that nobody waits; in a program, how long one waits differs from run to run | `faults(second)`, how often a context goes to the coordinator: `who-waits-at-the-coordinator.yml` |

      """
  }

  private static func section(_ rule: RuleName) -> String {
    """
    ## \(rule.rawValue)

    \(rule.meaning)

    - Fires: \(rule.condition)
    - SuggestedFix: \(rule.remedy)
    - In the book: chapter \(rule.chapter).

    """
  }
}
