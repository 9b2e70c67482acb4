import OpenCoreData
import ProfileEvents

extension Session {
  /// `registered` and `peak` of now: for each entity, for each context, and for all.
  ///
  /// Registered objects of all contexts are added up; a peak is the highest of any one context.
  var gauges: [ScopedMetric: Int] {
    var gauges: [ScopedMetric: Int] = [:]
    for named in stack.contexts {
      let context = named.context
      context.performAndWait {
        for entity in model.entities where !entity.isAbstract {
          guard let name = entity.name else { continue }
          add(
            context.registeredCount(ofEntity: name), context.peakRegisteredCount(ofEntity: name),
            to: .entity(name), of: &gauges)
        }
        let (registered, peak) = (context.registeredCount, context.peakRegisteredCount)
        add(registered, peak, to: .context(named.name), of: &gauges)
        add(registered, peak, to: .all, of: &gauges)
      }
    }
    return gauges
  }

  private func add(
    _ registered: Int, _ peak: Int, to scope: MetricScope, of gauges: inout [ScopedMetric: Int]
  ) {
    gauges[ScopedMetric(.registered, scope), default: 0] += registered
    let highest = gauges[ScopedMetric(.peak, scope)] ?? 0
    gauges[ScopedMetric(.peak, scope)] = max(highest, peak)
  }
}
