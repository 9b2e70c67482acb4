import ManagedModel
import Testing

/// Evaluating random predicates over random rows matches plain Swift.
@Suite struct RandomPredicateTests {
  /// `CDPROF_RANDOM_SEEDS` seeds, 12 by default, starting with `CDPROF_RANDOM_FIRST`, 1 by default.
  static var seeds: ClosedRange<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["CDPROF_RANDOM_FIRST"].flatMap(UInt64.init) ?? 1
    let count = environment["CDPROF_RANDOM_SEEDS"].flatMap(UInt64.init) ?? 12
    return first...(first + Swift.max(1, count) - 1)
  }

  @Test(arguments: seeds)
  func evaluationMatchesPlainSwift(seed: UInt64) throws {
    var (evaluations, matches) = (0, 0)
    var random = SplitMix(state: seed)
    var rows: [RandomRow] = []
    for _ in 0..<4 { rows.append(RandomRow(&random)) }
    var predicates = RandomPredicates(random)
    for _ in 0..<1_700 {
      let made = predicates.next()
      let predicate = try NSPredicate.parse(made.format, arguments: [])
      let again = try NSPredicate.parse(predicate.predicateFormat, arguments: [])
      if again != predicate { Issue.record("seed \(seed): \(made.format) → \(predicate)") }
      for (index, row) in rows.enumerated() {
        let expected = made.matches(row)
        let found = try predicate.evaluation(of: row)
        if found != expected {
          Issue.record("seed \(seed), row \(index): \(made.format) gives \(found)")
        }
        evaluations += 1
        if found { matches += 1 }
      }
    }
    #expect(
      matches > evaluations / 8 && matches < evaluations * 7 / 8, "\(matches) of \(evaluations)")
  }
}
