package import Foundation
import ProfileEvents
package import Profiling
import WorkbenchText

/// The events of a result as JSON Lines, one event per line, for `jq`, databases, and scripts.
///
/// Variants are in the order of the file, their steps and events in the order of their start. The
/// report doesn't contain bound values or the paths of stores.
package enum JSONLinesReport {
  /// Returns a result's events as UTF-8, with a line feed after each line.
  package static func data(_ result: RunResult) -> Data {
    var data = Data()
    for variant in result.variants {
      for line in lines(variant) { data += Data((line + "\n").utf8) }
    }
    return data
  }

  private static func lines(_ variant: VariantResult) -> [String] {
    var lines: [(begin: UInt64, text: String)] = variant.steps.map { step in
      var fields = JSONFields()
      fields.add("variant", variant.name)
      fields.add("kind", "step")
      fields.add("at", step.offset)
      fields.add("nanoseconds", step.costs.nanoseconds)
      fields.add("step", step.text)
      fields.add("location", "\(step.location.file):\(step.location.line)")
      return (step.offset, fields.object)
    }
    lines += variant.timeline.events.map { lane, mark in
      (mark.begin, line(lane, mark, variant.name))
    }
    var texts = lines.enumerated().sorted {
      ($0.element.begin, $0.offset) < ($1.element.begin, $1.offset)
    }.map(\.element.text)
    if variant.timeline.leftOut > 0 {
      var fields = JSONFields()
      fields.add("variant", variant.name)
      fields.add("kind", "left-out")
      fields.add("count", variant.timeline.leftOut)
      texts.append(fields.object)
    }
    return texts
  }

  private static func line(
    _ lane: Timeline.Lane, _ mark: Timeline.Mark, _ variant: String
  ) -> String {
    var fields = JSONFields()
    fields.add("variant", variant)
    fields.add("kind", lane.kind.rawValue)
    fields.add("at", mark.begin)
    fields.add("nanoseconds", mark.duration)
    fields.add("context", lane.context)
    fields.add("entity", lane.entity)
    fields.add("relationship", lane.relationship)
    fields.add("object", lane.uri(of: mark))
    fields.add("source", lane.source?.rawValue)
    fields.add("rows", mark.rows)
    fields.add("statement", lane.statement?.rawValue)
    fields.add("sql", lane.sql)
    fields.add("location", lane.callSite.map { "\($0.file):\($0.line)" })
    return fields.object
  }
}
