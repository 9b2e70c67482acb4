import RunResults

@testable import ScenarioLanguage

/// The contents of `Documentation/findings.md`, generated from the rules.
enum FindingsPage {
  static var text: String {
    let rules = RuleName.allCases.compactMap(Rule.named)
    let rows = rules.map { rule in
      "| [`\(rule.name.rawValue)`](#\(rule.name.rawValue)) | \(rule.chapter) | \(rule.meaning) |"
    }
    let table = rows.joined(separator: "\n")
    let sections = rules.map(section).joined(separator: "\n")
    return """
      # Findings

      <!-- Written from Sources/RunResults/Findings/Rules. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter FindingsDocumentationTests -->

      A finding reports work that costs more than it should: the rule, its subject, the line of code, the count,
      the SQL that repeats, and a fix as code. `verified` is the count with the fix applied, if it was verified: by
      another variant that runs the same steps with the fixed fetch (and without the in-memory sort or the walk that
      the fix makes unnecessary) and has a lower count, or, for an index, on a copy of the store. Otherwise it's
      `not verified`. Findings with the same name from the same line are reported as one. In the shell,
      `help fault-storm` describes a finding.

      A scenario lists exactly the findings that it expects; if it lists none, none may fire. To suppress a finding
      for the whole file, name its rule, or rule and subject:

      ```yaml
      silence: [unused-prefetch, fault-storm(Mood.country)]
      ```

      The subject of `ineffective-prefetch`, `unused-prefetch`, and `count-per-row` is a relationship, such as
      `Mood.country`; that of `fault-storm` is the relationship that was followed, or the entity if the objects were
      fetched; that of every other rule is an entity.

      A rule fires only if the recorded events prove it. If an expectation isn't met and a finding explains the
      surplus, the message about it starts with `likely:`.

      | rule | chapter | means |
      | --- | --- | --- |
      \(table)

      \(sections)
      ## What no rule detects

      Events don't show what a program does with its objects after reading them, or what other threads do at the same
      time. So there's no rule for the following:

      | advice | why it can't be detected | what shows it |
      | --- | --- | --- |
      | let SQLite calculate sums (chapter 6) | a program that adds up an attribute reads it from every object, and so does one that displays it | `numbers-alone.yml`: `result dictionaries` and `columns sum(…)` compared with objects |
      | a `willSave` that sets equal values (chapter 7) | scenarios and the shell use `NSManagedObject`, not custom classes | `savePasses` of `costs(of:)` in the program's tests; an error 134070 names the object |
      | two contexts that compete for one coordinator (chapter 8) | steps run one after another, so no context waits; in a program, waiting times vary between runs | `faults(second)`, the number of times that a context uses the coordinator: `who-waits-at-the-coordinator.yml` |

      """
  }

  private static func section(_ rule: Rule) -> String {
    """
    ## \(rule.name.rawValue)

    \(rule.meaning)

    - Fires: \(rule.condition)
    - Fix: \(rule.remedy)
    - In the book: chapter \(rule.chapter).

    """
  }
}
