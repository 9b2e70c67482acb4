import OpenCoreData
import ProfileEvents

/// The tries of a shell as the text of a scenario file: one variant a try.
struct TriesScenario {
  let workspace: ShellWorkspace
  /// At least one; each ran something.
  let tries: [ShellTry]
  /// Where the text will stand; paths in it are relative to its folder.
  let file: URL

  /// The whole text.
  var yaml: String {
    let shared = SharedSteps(tries.map(\.steps))
    var lines = [
      "# Typed in `cdprof shell`; every expectation is what was measured there.",
      "name: \(YAMLScalar.text(file.deletingPathExtension().lastPathComponent))",
      "source: \(SourceMark.ours.rawValue)",
      "story: \(YAMLScalar.text("Tries on \(workspace.title)."))",
    ]
    lines += data
    lines.append("steps:\(shared.steps.isEmpty ? " []" : "")")
    lines += shared.steps.map { "  - \(YAMLScalar.text($0.text))" }
    lines.append("variants:")
    for (attempt, difference) in zip(tries, shared.differences) {
      lines += variant(attempt, difference)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func variant(_ attempt: ShellTry, _ difference: SharedSteps.Difference) -> [String] {
    var lines = ["  - name: \(attempt.name)"]
    if !difference.set.isEmpty {
      let settings = difference.set.map { setting in
        "\(setting.target).\(setting.option.word.rawValue): \(YAMLScalar.value(of: setting.option))"
      }
      lines.append("    set: {\(settings.joined(separator: ", "))}")
    }
    for (key, steps) in [("first", difference.first), ("then", difference.then)]
    where !steps.isEmpty {
      lines.append("    \(key):")
      lines += steps.map { "      - \(YAMLScalar.text($0.text))" }
    }
    lines.append("    expect: {\(expectations(of: attempt).joined(separator: ", "))}")
    return lines
  }

  /// Always the three that a fault lesson is about; what was written, where something was.
  private func expectations(of attempt: ShellTry) -> [String] {
    let counters = attempt.costs.counters
    var parts = ([.selects, .faults, .misses] as [Metric]).map { metric in
      "\(metric.rawValue): \(counters[metric] ?? 0)"
    }
    for metric in [.saves, .inserts, .updates, .deletes] as [Metric] {
      if let count = counters[metric], count > 0 { parts.append("\(metric.rawValue): \(count)") }
    }
    let findings = attempt.groupedFindings.map { YAMLScalar.text($0.name) }
    return parts + ["findings: [\(findings.joined(separator: ", "))]"]
  }

  private var data: [String] {
    switch workspace.subject {
    case .store(let url):
      return ["data: {store: \(YAMLScalar.text(relative(url)))}"]
    case .scenario(let scenario):
      var lines: [String] = []
      if let model = scenario.modelURL {
        lines.append("model: \(YAMLScalar.text(relative(model)))")
      }
      switch scenario.data.source {
      case .copied(let url):
        lines.append("data: {store: \(YAMLScalar.text(relative(url)))}")
      case .generated(let plans):
        lines += ["data:", "  seed: \(scenario.data.seed)"]
        lines += plans.map { plan in
          let parts =
            ["count: \(YAMLScalar.text(plan.count.text))"]
            + plan.properties.map { "\($0.name): \(YAMLScalar.value(of: $0.generator))" }
          return "  \(plan.entity): {\(parts.joined(separator: ", "))}"
        }
      }
      return lines
    }
  }

  /// A path from the file's folder.
  private func relative(_ url: URL) -> String {
    let from = file.deletingLastPathComponent().standardizedFileURL.resolvingSymlinksInPath()
      .pathComponents
    let target = url.standardizedFileURL.resolvingSymlinksInPath()
    let to = target.pathComponents
    let common = zip(from, to).prefix { $0 == $1 }.count
    // Where only the root is shared, the way up and down says less than the path itself.
    guard common > 1 else { return target.path }
    return (Array(repeating: "..", count: from.count - common) + to[common...])
      .joined(separator: "/")
  }
}
