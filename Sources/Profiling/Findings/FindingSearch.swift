package import Foundation
import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis

/// The one search for findings: of a variant that ran, of a run in the shell, and of its report.
package enum FindingSearch {
  /// What a search found.
  package struct Found: Sendable, Equatable {
    /// Those of the same name, line, and kind of event as one, in the order in which they began.
    package var findings: [Finding] = []
    /// Those that fired and that a scenario suppresses, put together in the same way.
    package var silenced: [Finding] = []

    package init(findings: [Finding] = [], silenced: [Finding] = []) {
      self.findings = findings
      self.silenced = silenced
    }

    /// The names of the suppressed ones, each once.
    package var silencedNames: [String] {
      silenced.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }

  /// Everything that the rules find in a piece of work.
  ///
  /// Cost: a pass over the events for each rule; with a store, what `MissingIndex` does.
  /// - Parameters:
  ///   - work: The steps and their events.
  ///   - steps: What the rules of single steps found while these ran (`StepOutcome.findings`).
  ///   - statements: The statements of the work with their plans.
  ///   - store: Where indexes are tried for these, on a copy; nil to try none.
  ///   - silence: What a scenario suppresses.
  package static func all(
    of work: FinishedWork, steps: [Finding], statements: [StatementShape] = [],
    store: URL? = nil, silence: [Silence] = []
  ) -> Found {
    let indexes = store.map { MissingIndex.findings(in: statements, storeURL: $0) } ?? []
    return grouped(steps + RuleName.findings(in: work) + indexes, silence: silence)
  }

  /// Findings put together, apart from those that are suppressed.
  ///
  /// The same rule on the same subject is one finding where line and kind of event are the same too.
  package static func grouped(_ findings: [Finding], silence: [Silence]) -> Found {
    struct Key: Hashable {
      var name: String
      var callSite: CallSite?
      var what: String
    }
    var places: [Key: Int] = [:]
    let grouped = findings.reduce(into: [Finding]()) { grouped, finding in
      let key = Key(name: finding.name, callSite: finding.callSite, what: finding.what)
      if let place = places[key] {
        grouped[place].count += finding.count
      } else {
        places[key] = grouped.count
        grouped.append(finding)
      }
    }
    func isSilenced(_ finding: Finding) -> Bool { silence.contains { $0.hides(finding) } }
    return Found(
      findings: grouped.filter { !isSilenced($0) }, silenced: grouped.filter(isSilenced))
  }
}
