import OpenCoreData

/// A mood whose properties are declared with `@Managed`.
final class WrappedMood: NSManagedObject {
  @Managed("rank") var rank: Int64
  @Managed("name") var name: String
}
