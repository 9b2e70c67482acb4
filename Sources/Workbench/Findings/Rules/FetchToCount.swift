import ProfileEvents

/// The rule that finds objects which were fetched for the sake of their number.
///
/// It fires when at least `threshold` objects were fetched, the result was gone through, and nothing of
/// it was read, followed or changed.
enum FetchToCount: WorkRule {
  static let rule = Finding.Rule.fetchToCount
  /// Fewer rows cost hardly more than their number does.
  static let threshold = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard let fetch = part.step.fetchText, fetch.value(of: "result") != "count" else {
        return nil
      }
      let users = work.users(ofResultAt: place)
      guard !users.isEmpty, users.allSatisfy({ $0.step.verb == .walk && $0.step.reads.isEmpty }),
        fetch.value(of: "batch") == nil,
        let event = work.events(of: part).first(where: { $0.kind == .fetch }),
        event.rows >= threshold
      else { return nil }
      var cured = fetch.without("result").without("sort").without("prefetch").without("batch")
      cured = cured.without("faults").without("values").adding("count", to: "result")
      return Finding(
        rule: rule, subject: fetch.entity, count: event.rows, callSite: part.recorded.location,
        what: "rows fetched for their number",
        cure: Cure(swift: ["let number = try context.count(for: request)"], fetch: cured))
    }
  }
}
