import ManagedModel
import ProfileEvents
package import RunResults
import StatementAnalysis
import WorkbenchText

/// The result of a run as text for a terminal: outcome, unmet expectations, and costs.
package enum RunText {
  /// Returns the lines of a result, without line feeds.
  package static func lines(_ result: RunResult) -> [String] {
    let chapter = result.chapter.map { "   chapter \($0)" } ?? ""
    let data = result.data.map { "\($0.name) \(NumberText.grouped($0.count))" }
      .joined(separator: ", ")
    let rows = data.isEmpty ? "no data" : data
    return [
      "\(result.scenario)\(chapter)   \(result.passes ? "✓" : "✗") \(result.summary)",
      "\(rows) · seed \(result.seed) · scale \(result.scale) · each variant cold"
        + (result.engine.map { " · \($0.text)" } ?? ""),
    ] + unmet(result) + unevaluated(result) + [""] + table(result)
  }

  /// Returns the unmet expectations, with the events that account for each difference.
  ///
  /// The array is empty if all expectations are met.
  package static func unmet(_ result: RunResult) -> [String] {
    UnmetExpectations.all(of: result).flatMap { variant in
      let lines = variant.lines.map { line in
        let formula = line.formula.map { " (\($0))" } ?? ""
        return "✗ \(variant.variant) · \(line.metric)   expected \(line.expected)\(formula)"
          + ", actual \(line.actual)   \(line.location)"
      }
      return [""] + lines + variant.differences.map { "    \($0)" }
    }
  }

  /// Returns the expectations that weren't evaluated; empty on SQLite.
  private static func unevaluated(_ result: RunResult) -> [String] {
    let lines = UnevaluatedText.all(in: result)
    return lines.isEmpty ? [] : [""] + lines.map { "– \($0.text)" }
  }

  /// Returns each variant's statements with count, rows, SQLite's counters, plan, and assessment.
  package static func plans(_ result: RunResult) -> [String] {
    result.variants.flatMap { variant in
      ["", variant.name] + variant.statements.flatMap { PlanText.lines($0).map { "  \($0)" } }
    }
  }

  private static func table(_ result: RunResult) -> [String] {
    let table = ReportTable(result)
    let rows = table.rows.map { row in
      (
        name: "\(row.holds ? "✓" : "✗") \(row.name)", findings: row.findings.map { "▲\($0)" } ?? "",
        cells: [row.text] + row.cells.map(\.text)
      )
    }
    let headings = [table.leadHeading] + table.headings.map(\.text)
    let name = rows.map { TextWidth.of($0.name) }.max() ?? 0
    let findings = rows.map(\.findings.count).max() ?? 0
    let widths = headings.indices.map { column in
      max(
        TextWidth.of(headings[column]), rows.map { TextWidth.of($0.cells[column]) }.max() ?? 0)
    }
    func line(_ name: String, _ cells: [String]) -> String {
      name + zip(cells, widths).map { "   " + NumberText.right($0, $1) }.joined()
    }
    let indent = String(repeating: " ", count: name + findings + (findings > 0 ? 1 : 0))
    let body = rows.map { row in
      let mark = findings > 0 ? " " + NumberText.left(row.findings, findings) : ""
      return line(NumberText.left(row.name, name) + mark, row.cells)
    }
    let legend =
      (findings > 0 ? "▲ findings · " : "") + "* measured on this machine; informational"
      + (result.environment.timeNote.map { " · \($0)" } ?? "")
    return [line(indent, headings)] + body + [legend]
  }
}

/// The name of a variant together with its scale.
enum VariantLabel {
  /// Returns the name if the scale is 1, or else `plain at scale 10`.
  static func text(_ name: String, scale: Int) -> String {
    scale == 1 ? name : "\(name) at scale \(NumberText.grouped(scale))"
  }
}

extension RunEnvironment {
  /// What made the times longer, for the legend of a report; `nil` if nothing did.
  var timeNote: String? {
    guard let jobs, isConcurrent else { return nil }
    return "up to \(NumberText.counted(jobs, "scenario")) ran concurrently; "
      + "run with --jobs 1 for undisturbed times"
  }
}

/// A table of a scenario's SELECTs at several scales.
package enum ScaleText {
  /// Returns a heading and a line for each variant, without line feeds; empty for a single scale.
  package static func lines(_ result: RunResult) -> [String] {
    guard !result.scales.isEmpty else { return [] }
    let names = result.variants.map(\.name)
    let first = result.variants.map { $0.metrics[.selects] ?? 0 }
    let others = result.scales.map { run in
      names.map { name in run.variants.first { $0.name == name }?.metrics[.selects] ?? 0 }
    }
    let scales = [result.scale] + result.scales.map(\.scale)
    let columns = zip(scales, [first] + others).map { scale, counts in
      ["scale \(NumberText.grouped(scale))"] + counts.map(NumberText.grouped)
    }
    let width = names.map { TextWidth.of($0) }.max() ?? 0
    let widths = columns.map { $0.map(\.count).max() ?? 0 }
    return ["SELECTs at each scale"]
      + ([""] + names).enumerated().map { row, name in
        "  " + NumberText.left(name, width)
          + zip(columns, widths).map { "   " + NumberText.right($0[row], $1) }.joined()
      }
  }
}

/// The result of a run as plain text: the terminal's output, then findings and the command.
enum TextReport {
  /// Returns a result as text that ends with a line feed.
  static func text(_ result: RunResult) -> String {
    let findings = ReportFinding.all(of: result).flatMap(lines)
    let lines =
      RunText.lines(result) + (findings.isEmpty ? [] : [""] + findings)
      + ["", "\(result.command)   cdprof \(result.environment.cdprof)"]
    return lines.map { PrintableText.line($0) + "\n" }.joined()
  }

  private static func lines(_ finding: ReportFinding) -> [String] {
    let location = finding.location.map { " from \($0)" } ?? ""
    var lines = ["▲ \(finding.name): \(finding.count) \(finding.what)\(location)"]
    if let now = finding.now { lines.append("    now   \(now)") }
    let fix = [finding.fix, finding.advice.nonEmpty].compactMap(\.self)
    lines.append("    fix   \(fix.joined(separator: "; "))   \(finding.verification)")
    return lines + ["    in    \(finding.variants)"]
  }
}
