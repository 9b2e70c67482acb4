public import OpenCoreData

/// An author, whose class is written by hand and whose properties are generated.
public final class Author: NSManagedObject {
  /// The titles of what is published, in their order.
  public var publishedTitles: [String] {
    lazyWorks.filter(\.isPublished).compactMap(\.title).sorted()
  }
}
