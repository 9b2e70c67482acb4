import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Undo of ordered relationships")
struct UndoneOrderTests {
  private func names(_ list: NSManagedObject) -> String {
    (list.value(forKey: "songs") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.label }
      .joined() ?? ""
  }

  /// Each song gets its list back by itself, those that were moved or deleted first.
  @Test(
    "A saved deletion is undone with the order of songs that were moved or deleted before it",
    arguments: StoreKind.allCases, [true, false])
  func savedDeletionIsUndoneWithItsOrder(_ kind: StoreKind, _ moves: Bool) throws {
    for index in 0..<3 {
      let bed = try ContextBed(kind, model: UndoRelationshipTests.albums())
      let context = bed.context()
      try context.performAndWait {
        let songs = ["c", "a", "b"].map { context.make("Song", ["name": $0]) }
        let (list, other) = (context.make("List"), context.make("List"))
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try context.save()
        context.undoManager = UndoManager()
        if moves {
          songs[index].setValue(other, forKey: "list")
        } else {
          context.delete(songs[index])
        }
        context.delete(list)
        try context.save()
        for round in 0..<2 {
          context.undo()
          #expect(names(list) == "cab" && names(other) == "", "\(index), \(round)")
          try context.save()
          guard round == 0 else { continue }
          context.redo()
          #expect(list.isDeleted)
          try context.save()
        }
      }
      let check = bed.context()
      let saved = try check.performAndWait {
        try check.everyObject(of: "List").map { names($0) }.sorted()
      }
      #expect(saved == ["", "cab"], "\(index)")
    }
  }
}
