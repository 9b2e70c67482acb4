import Foundation
import OpenCoreData
import ProfileEvents
package import ScenarioLanguage

extension Session {
  /// `registered` and `peak` of now: for each entity, for each context, and for all.
  ///
  /// Registered objects of all contexts are added up; a peak is the highest of any one context.
  package var gauges: [ScopedMetric: Int] {
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

  /// Pages of the store's file and of its log, and those that hold nothing, as they are now.
  ///
  /// Cost: a look at two files and two pragmas on the session's own connection; nothing is counted.
  /// - Throws: an `NSError` when the store cannot be opened once more.
  package func pages() throws -> [ScopedMetric: Int] {
    let connection = try rawConnection()
    let pageSize = max(1, try connection.number(ofPragma: "page_size"))
    // The log has a head of 32 bytes, and each page in it one of 24.
    let log = max(0, Session.length(of: storeURL.path + "-wal") - 32)
    return [
      ScopedMetric(.filepages): Session.length(of: storeURL.path) / pageSize,
      ScopedMetric(.walpages): log / (pageSize + 24),
      ScopedMetric(.freepages): try connection.number(ofPragma: "freelist_count"),
    ]
  }

  /// In bytes; 0 for a file that is not there.
  private static func length(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  private func add(
    _ registered: Int, _ peak: Int, to scope: MetricScope, of gauges: inout [ScopedMetric: Int]
  ) {
    gauges[ScopedMetric(.registered, scope), default: 0] += registered
    let highest = gauges[ScopedMetric(.peak, scope)] ?? 0
    gauges[ScopedMetric(.peak, scope)] = max(highest, peak)
  }
}
