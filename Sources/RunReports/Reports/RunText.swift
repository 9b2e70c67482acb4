import OpenCoreData
import ProfileEvents
package import Profiling
import StatementAnalysis
import WorkbenchText

/// A run's result as a person reads it in a terminal: did it hold, what was missed, which way costs what.
package enum RunText {
  /// The whole of it, without ends of line.
  package static func lines(_ result: RunResult) -> [String] {
    let chapter = result.chapter.map { "   chapter \($0)" } ?? ""
    let data = result.data.map { "\($0.name) \(NumberText.grouped($0.count))" }
      .joined(separator: ", ")
    return [
      "\(result.scenario)\(chapter)   \(result.holds ? "✓" : "✗") \(result.verdict)",
      "\(data) · seed \(result.seed) · scale \(result.scale) · each variant cold",
    ] + missed(result) + [""] + table(result)
  }

  /// Unmet expectations: expected, actual, and the events that account for the difference; empty if all are met.
  package static func missed(_ result: RunResult) -> [String] {
    ReportMiss.all(of: result).flatMap { miss in
      let lines = miss.lines.map { line in
        let law = line.law.map { " (\($0))" } ?? ""
        return "✗ \(miss.variant) · \(line.metric)   expected \(line.expected)\(law)"
          + ", actual \(line.found)   \(line.location)"
      }
      return [""] + lines + miss.differences.map { "    \($0)" }
    }
  }

  /// Every variant's statements by shape: count, rows, SQLite's work, plan and verdict.
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
    let name = rows.map(\.name.count).max() ?? 0
    let findings = rows.map(\.findings.count).max() ?? 0
    let widths = headings.indices.map { column in
      max(headings[column].count, rows.map { $0.cells[column].count }.max() ?? 0)
    }
    func line(_ name: String, _ cells: [String]) -> String {
      name + zip(cells, widths).map { "   " + NumberText.right($0, $1) }.joined()
    }
    let indent = String(repeating: " ", count: name + findings + (findings > 0 ? 1 : 0))
    let body = rows.map { row in
      let mark = findings > 0 ? " " + NumberText.left(row.findings, findings) : ""
      return line(NumberText.left(row.name, name) + mark, row.cells)
    }
    let legend = (findings > 0 ? "▲ findings · " : "") + "* measured on this machine; informational"
    return [line(indent, headings)] + body + [legend]
  }
}

/// One scenario at several scales, side by side: how the number of SELECTs grows.
package enum ScaleText {
  /// A head line and one line a variant, without ends of line; empty for a single scale.
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
    let width = names.map(\.count).max() ?? 0
    let widths = columns.map { $0.map(\.count).max() ?? 0 }
    return ["SELECTs at each scale"]
      + ([""] + names).enumerated().map { row, name in
        "  " + NumberText.left(name, width)
          + zip(columns, widths).map { "   " + NumberText.right($0[row], $1) }.joined()
      }
  }
}

/// The result of a run as plain text: what a terminal shows, then findings and how to repeat it.
package enum TextReport {
  /// The whole text, with an end of line at its end.
  package static func text(_ result: RunResult) -> String {
    let findings = ReportFinding.all(of: result).flatMap(lines)
    let lines =
      RunText.lines(result) + (findings.isEmpty ? [] : [""] + findings)
      + ["", "\(result.command)   cdprof \(result.environment.cdprof)"]
    return lines.map { PrintableText.line($0) + "\n" }.joined()
  }

  private static func lines(_ finding: ReportFinding) -> [String] {
    let place = finding.location.map { " from \($0)" } ?? ""
    var lines = ["▲ \(finding.name): \(finding.count) \(finding.what)\(place)"]
    if let now = finding.now { lines.append("    now   \(now)") }
    let cure = (finding.cure + [finding.advice]).filter { !$0.isEmpty }
    lines.append("    fix   \(cure.joined(separator: "; "))   \(finding.tried)")
    return lines + ["    in    \(finding.variants)"]
  }
}
