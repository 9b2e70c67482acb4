import ManagedModel
import ProfileEvents

extension FetchPlan {
  /// What the request asks for, as texts, for a log that prints requests.
  var record: RequestRecord {
    RequestRecord(
      predicate: predicate?.predicateFormat,
      sort: sort.map { descriptor in
        let manner = descriptor.comparison?.rawValue ?? "block"
        let order = descriptor.ascending ? "ascending" : "descending"
        return "(\(descriptor.key ?? "self"), \(order), \(manner))"
      })
  }
}
