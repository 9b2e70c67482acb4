import OpenCoreData
import WorkbenchText

extension DataPlan {
  /// The plan as lines of a scenario's `data:`, indented by two.
  ///
  /// - Parameter storePath: how a copied store is to be written.
  func yamlLines(storePath: String) -> [String] {
    switch source {
    case .copied:
      return ["  store: \(YAMLText.scalar(storePath))"]
    case .generated(let plans):
      return ["  seed: \(seed)"]
        + plans.map { plan in
          let pairs =
            ["count: \(plan.count.text)"]
            + plan.properties.map { "\($0.name): \($0.generator.yaml)" }
          return "  \(plan.entity): {\(pairs.joined(separator: ", "))}"
        }
    }
  }
}

extension Generator {
  /// The generator as a scenario writes it.
  var yaml: String {
    switch self {
    case .cycle: "cycle"
    case .random: "random"
    case .every(let seconds): Generator.interval(seconds)
    case .text(let length): "text \(length)"
    case .oneOf(let words): "{one of: \(YAMLText.list(words.map(\.text)))}"
    }
  }

  private static func interval(_ seconds: Int) -> String {
    let units = [(604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute")]
    let (length, unit) = units.first { seconds.isMultiple(of: $0.0) } ?? (1, "second")
    let count = seconds / length
    return "every \(PluralForm.counted(count, unit))"
  }
}
