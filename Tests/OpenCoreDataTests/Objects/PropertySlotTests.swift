import CoreDataCosts
import ManagedModel
import Testing

@testable import OpenCoreData

@Suite("Generated accessors match key-value coding")
struct PropertySlotTests {
  /// How the loaded model differs from the one the class was generated from.
  enum Loaded: CaseIterable {
    /// It doesn't.
    case asGenerated
    /// It has one more attribute, before all others.
    case shifted
    /// An attribute has another type.
    case retyped

    func model() -> NSManagedObjectModel {
      SlottedArticle.registerClass(
        named: "SlottedArticle", slots: SlottedArticle.Slots.declarations)
      let model = TestModels.library()
      let article = model.entitiesByName["Article"]
      article?.managedObjectClassName = "SlottedArticle"
      switch self {
      case .asGenerated: break
      case .shifted:
        let first = NSAttributeDescription()
        first.name = "aaa"
        first.attributeType = .integer64AttributeType
        article?.properties += [first]
      case .retyped:
        article?.attributesByName["int32"]?.attributeType = .integer16AttributeType
      }
      return model
    }
  }

  @Test(arguments: Loaded.allCases, StoreKind.allCases)
  func slotsAgreeWithNamesInEveryState(loaded: Loaded, kind: StoreKind) throws {
    let stack = try TestStack(kind, model: loaded.model())
    let context = try stack.coldContext()
    try context.performAndWait {
      let article = SlottedArticle(context: context)
      func agree(_ state: String) {
        #expect(article.state.hasFixedSlots == (loaded == .asGenerated), "\(state)")
        for pair in article.bothWays {
          #expect(pair.slot == pair.key, "\(pair.name), \(state)")
        }
      }
      agree("new")
      if loaded == .retyped {
        article.setValue(7, forKey: "int32")
        #expect(article[SlottedArticle.Slots.int32] == 7 && article.widerInteger == 7)
        return
      }
      article.setAll(3)
      agree("set")
      #expect(article.value(forKey: "int16") as? Int16 == -3)
      try context.save()
      agree("saved")
      context.refreshAllObjects()
      #expect(costs(of: context) { _ = article[SlottedArticle.Slots.int64] }.faults == 1)
      agree("realized")
      article.setAll(4)
      agree("changed")
      context.refresh(article, mergeChanges: true)
      agree("merged")
      context.rollback()
      agree("rolled back")
      #expect(article[SlottedArticle.Slots.int32] == 3 << 20)
      article.clear()
      agree("cleared")
      try context.save()
      context.refreshAllObjects()
      agree("realized with nils")
      #expect(article[SlottedArticle.Slots.string] == nil)
      #expect(article.hasChanges == false)
    }
  }

  @Test(arguments: Loaded.allCases, StoreKind.allCases)
  func managedPropertiesKeepTheirValuesInEveryModel(loaded: Loaded, kind: StoreKind) throws {
    let context = try TestStack(kind, model: loaded.model()).coldContext()
    try context.performAndWait {
      let article = SlottedArticle(context: context)
      #expect(article.managedInteger == 0 && article.managedText == "")
      #expect(article.managedDouble == nil && article.widerInteger == 0)
      article.managedInteger = .min
      article.managedText = "some text that is kept on the heap"
      article.managedDouble = 0.5
      article.widerInteger = -8
      try context.save()
      for turn in 0..<3 {
        if turn == 1 { context.refreshAllObjects() }
        #expect(article.managedInteger == .min && article.managedDouble == 0.5)
        #expect(article.managedText == "some text that is kept on the heap")
        #expect(article.widerInteger == -8 && !article.hasChanges)
      }
      article.managedDouble = nil
      article.setValue("another", forKey: "string")
      #expect(article.managedDouble == nil && article.managedText == "another")
    }
  }

  @Test func rowsAndGeneratedCodeUseTheSameHeaderSize() {
    #expect(Row.headerSize == SlotGeometry.headerSize)
  }

  @Test(arguments: StoreKind.allCases)
  func objectWhoseEntityDoesNotMatchItsClassHasNoFixedSlots(kind: StoreKind) throws {
    let model = Loaded.asGenerated.model()
    let tag = try #require(model.entitiesByName["Tag"])
    let context = try TestStack(kind, model: model).coldContext()
    context.performAndWait {
      let object = SlottedArticle(entity: tag, insertInto: context)
      #expect(!object.state.hasFixedSlots)
      let heir = HeirOfArticle(entity: model.entitiesByName["Article"] ?? tag, insertInto: context)
      #expect(!heir.state.hasFixedSlots)
      heir.setAll(5)
      #expect(heir.value(forKey: "int64") as? Int64 == 5 << 40)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func stringsAreDecodedOnceAndChangesAreVisible(kind: StoreKind) throws {
    let context = try TestStack(kind, model: Loaded.asGenerated.model()).coldContext()
    try context.performAndWait {
      let article = SlottedArticle(context: context)
      article.setAll(1)
      try context.save()
      context.refreshAllObjects()
      let slot = SlottedArticle.Slots.string
      #expect(article[slot] == "a text of more than 15 bytes, 1")
      let kept = try #require(article.keptText(at: slot.position))
      _ = article[slot]
      #expect(article.keptText(at: slot.position) == kept)
      article.setValue("another", forKey: "string")
      #expect(article.keptText(at: slot.position) == nil)
      #expect(article[slot] == "another" && article.changedValues().keys.sorted() == ["string"])
      context.refresh(article, mergeChanges: false)
      #expect(article[slot] == "a text of more than 15 bytes, 1")
    }
  }
}

/// A handwritten subclass of a generated class.
private final class HeirOfArticle: SlottedArticle {}
