import OpenCoreData

/// Evaluating a predicate on realized objects, compared with an equivalent closure, and parsing a
/// predicate.
struct PredicateWorkloads {
  let bed: Bed

  /// Creates a workload with two comparisons of generated properties, which both run each time.
  ///
  /// The closure reads the same objects as the predicate.
  func overObjects() throws -> Workload {
    MoodsModel.registerClasses()
    let model = BenchModel.make(moodClass: GeneratedMood.self)
    let held = try HeldObjects<GeneratedMood>(
      Stack(url: bed.url, model: model).context(), count: 4_096)
    let objects = held.objects.filter { $0.flags == 3 }
    let predicate = NSPredicate(format: "flags == 3 AND name BEGINSWITH 'mood 00000001'")
    let found = objects.count { PredicateWorkloads.holds($0) }
    guard found > 0, found == objects.count(where: { predicate.evaluate(with: $0) }) else {
      throw BenchError("predicate and closure disagree")
    }
    let repeats = 100
    return Workload(
      name: "predicate over objects", unit: "object", operations: objects.count * repeats, limit: 5,
      arms: [
        Arm(program: .swift) {
          timed {
            for _ in 0..<repeats { use(objects.count { PredicateWorkloads.holds($0) }) }
          }.time
        },
        Arm(program: .ours) {
          timed {
            for _ in 0..<repeats { use(objects.count { predicate.evaluate(with: $0) }) }
          }.time
        },
      ],
      note: "`\(predicate.predicateFormat)` against a closure with `==` and `hasPrefix` over the "
        + "same managed objects, whose strings were read before; \(found) of \(objects.count) match."
    )
  }

  @inline(never)
  private static func holds(_ mood: GeneratedMood) -> Bool {
    mood.flags == 3 && mood.name?.hasPrefix("mood 00000001") ?? false
  }

  /// Measures parsing a format of ten tokens, as the minimum of several rounds.
  static func parsing() -> Floor {
    let format = "kind == 3 AND (name BEGINSWITH 'mood' OR rank > 5)"
    let operations = 1_000
    let times = (0..<50).map { _ in
      timed { for _ in 0..<operations { use(NSPredicate(format: format)) } }.time
    }
    let least = Double(times.min() ?? 0) / Double(operations) / 1_000
    return Floor(
      name: "predicate, parsed", against: "µs", value: (least * 100).rounded() / 100, limit: 5,
      unit: "µs per predicate", note: "`\(format)`; the minimum of 50 rounds of 1,000.")
  }
}
