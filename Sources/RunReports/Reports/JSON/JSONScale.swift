import ProfileEvents
import Profiling
import ScenarioLanguage

/// The numbers of one more scale in the JSON file; its property names are the file's keys.
struct JSONScale: Codable {
  struct Variant: Codable {
    var name: String
    var metrics: JSONMetrics
    var nanoseconds: UInt64
    var repeats: [UInt64]?
    var expectations: [JSONExpectation]
  }

  var scale: Int
  var data: [JSONDocument.Entity]
  var variants: [Variant]

  init(_ run: ScaledRun) {
    scale = run.scale
    data = run.data.map(JSONDocument.Entity.init)
    variants = run.variants.map { variant in
      Variant(
        name: variant.name, metrics: JSONMetrics(variant.metrics, variant.scopedMetrics),
        nanoseconds: variant.nanoseconds, repeats: variant.repeats.nonEmpty,
        expectations: variant.expectations.map(JSONExpectation.init))
    }
  }

  /// What was written.
  var run: ScaledRun {
    ScaledRun(
      scale: scale, data: data.map(\.entityCount),
      variants: variants.map { variant in
        ScaledRun.Variant(
          name: variant.name, metrics: variant.metrics.plain, scopedMetrics: variant.metrics.scoped,
          nanoseconds: variant.nanoseconds, repeats: variant.repeats ?? [],
          expectations: variant.expectations.map(\.result))
      })
  }
}

extension Array {
  /// Nil for an empty list, whose key is then left out.
  var nonEmpty: [Element]? { isEmpty ? nil : self }
}
