import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds large results of which only the first objects were read.
///
/// It fires if a fetch without batch size and limit returned at least `threshold` rows, and the
/// steps that read the result read at most one in `part` of them.
enum PartlyReadRule {
  static let rule = Rule(
    .partlyRead, chapter: 8,
    meaning: "A large result was fetched in full, but only its first objects were read.",
    condition:
      "\(NumberText.grouped(threshold)) rows or more, fetched without batch size and limit, of "
      + "which at most one in \(part) was read.",
    remedy: "Set `fetchBatchSize` to about 1.3 screens of rows.",
    metrics: [.rows, .registered, .peak], search: .work(findings))
  /// The minimum number of rows for which a batch size is worth its second SELECT.
  static let threshold = 1_000
  /// The denominator of the maximum fraction of rows that are read.
  static let part = 20

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard let fetch = part.step.fetch, fetch.option(.result) == nil,
        [.batch, .limit, .offset].allSatisfy({ fetch.option($0) == nil }),
        let rows = work.events(of: part).first(where: { $0.kind == .fetch })?.rows,
        rows >= threshold
      else { return nil }
      let users = work.users(ofResultAt: place)
      guard !users.isEmpty, users.allSatisfy({ $0.step.verb == .touch }) else { return nil }
      let read = users.map { $0.step.part(of: rows).upperBound }.max() ?? rows
      guard read > 0, read * PartlyReadRule.part <= rows else { return nil }
      return Finding(
        rule: rule.name, subject: fetch.subject, count: rows, callSite: part.recorded.location,
        what: "rows fetched, the first \(NumberText.grouped(read)) of them read",
        cure: SuggestedFix(
          swift: ["request.fetchBatchSize = 20"], fetch: fetch.with(.batch, .number(StepNumber(20)))
        ))
    }
  }
}
