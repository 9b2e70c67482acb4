import ProfileEvents
package import Profiling
import WorkbenchText

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
