public import OpenCoreData

/// An author.
///
/// The class is handwritten, and its properties are generated.
public final class Author: NSManagedObject {
  /// The titles of the published works, sorted.
  public var publishedTitles: [String] {
    lazyWorks.filter(\.isPublished).compactMap(\.title).sorted()
  }
}
