// `OpenCoreData` reexports Foundation. A file that must import Foundation itself and uses
// `NSPredicate` also needs `import class ManagedModel.NSPredicate`; otherwise, the name is
// ambiguous.
import OpenCoreData

/// A Core Data stack with the store of a library.
struct LibraryStore {
  private let container: NSPersistentContainer

  /// Opens or creates the store at a file URL.
  init(at url: URL) throws {
    guard let file = Bundle.module.url(forResource: "Library", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { throw CocoaError(.fileReadNoSuchFile) }
    LibraryModel.registerClasses()
    container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  /// Saves an author, two books, and a tag of both books.
  func fill() throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let author = Author(context: context)
      author.name = "Jane Austen"
      let tag = Tag(context: context)
      tag.name = "novel"
      for (title, pages) in [("Emma", 474), ("Persuasion", 249)] {
        let book = Book(context: context)
        book.title = title
        book.numberOfPages = Int32(pages)
        book.isPublished = true
        book.addToTags(tag)
        author.addToWorks(book)
      }
      try context.save()
    }
  }

  /// Returns a line for each author and each book.
  func catalog() throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      return try context.fetch(request).flatMap { author in
        ["\(author.name ?? ""): \(author.publishedTitles.joined(separator: ", "))"]
          + author.works.sorted { ($0.title ?? "") < ($1.title ?? "") }.compactMap { work in
            (work as? Book).map { book in
              let tags = book.tags.compactMap(\.name).joined(separator: ", ")
              return "  \(book.title ?? ""), \(book.numberOfPages) pages, \(tags), "
                + "rated \(book.rating.map { "\($0)" } ?? "not yet")"
            }
          }
      }
    }
  }
}
