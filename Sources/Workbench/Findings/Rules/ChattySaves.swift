import ProfileEvents

/// The rule that finds many small saves one after the other.
///
/// It fires when at least `threshold` saves of one context, each of few objects and begun within a
/// second of the one before it, follow each other. Each save that inserts is two transactions.
enum ChattySaves: WorkRule {
  static let rule = Finding.Rule.chattySaves
  /// As many saves in a row are a habit.
  static let threshold = 10
  /// The objects a small save has at most.
  static let smallSave = 10
  /// Nanoseconds from the end of one save to the beginning of the next.
  static let pause: UInt64 = 1_000_000_000

  static func findings(in work: FinishedWork) -> [Finding] {
    let saves = work.recording.events.filter { $0.kind == .save }
    return Dictionary(grouping: saves) { $0.context ?? "" }
      .sorted { ($0.value.first?.id ?? 0) < ($1.value.first?.id ?? 0) }
      .flatMap { runs(of: $0.value).compactMap { finding($0, in: work) } }
  }

  /// Small saves that follow each other closely.
  private static func runs(of saves: [Event]) -> [[Event]] {
    var runs: [[Event]] = []
    for save in saves.sorted(by: { $0.begin < $1.begin }) {
      guard save.rows <= smallSave else {
        runs.append([])
        continue
      }
      if let last = runs.last?.last, save.begin < last.begin + last.duration + pause {
        runs[runs.count - 1].append(save)
      } else {
        runs.append([save])
      }
    }
    return runs.filter { $0.count >= threshold }
  }

  private static func finding(_ saves: [Event], in work: FinishedWork) -> Finding? {
    guard let first = saves.first, let last = saves.last else { return nil }
    let inside = work.recording.events.filter { event in
      guard let kind = event.statement?.kind, event.id >= first.id else { return false }
      return event.begin <= last.begin + last.duration
        && [.insert, .update, .delete].contains(kind)
    }
    let counts = inside.reduce(into: [String: Int]()) { counts, event in
      if let entity = event.entity { counts[entity, default: 0] += 1 }
    }
    let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    guard let entity = most?.key else { return nil }
    let objects = saves.reduce(0) { $0 + $1.rows }
    return Finding(
      rule: rule, subject: entity, count: saves.count, callSite: first.callSite,
      what: "saves of \(NumberText.counted(objects, "object")) in all",
      cure: Cure(swift: ["if isLastChange { try context.save() }"]))
  }
}
