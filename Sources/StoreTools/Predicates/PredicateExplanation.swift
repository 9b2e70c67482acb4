package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// What a predicate is: its tree, its canonical text, and the SQL it becomes for an entity.
package struct PredicateExplanation: Sendable {
  /// Apple's canonical text, as `predicateFormat` prints it.
  package let format: String
  /// The parts of the predicate, one a line, drawn as a tree.
  package let tree: [String]
  /// The SELECT of a fetch; nil when no entity is given.
  package let statement: FetchStatement?

  /// Reads a format.
  ///
  /// - Parameter text: as `NSPredicate(format:)` takes it; placeholders stay in it.
  /// - Throws: `CommandFailure` with a caret under what is wrong.
  package init(_ text: String) throws {
    try self.init(predicate: PredicateExplanation.read(text), statement: nil)
  }

  /// Reads a format and translates it for the objects of an entity.
  ///
  /// - Throws: `CommandFailure` with a caret under what is wrong or has no SQL, and for an unknown
  ///   entity.
  package init(_ text: String, entity name: String, model: NSManagedObjectModel) throws {
    let predicate = try PredicateExplanation.read(text)
    let names = ModelNames(model)
    let entity: NSEntityDescription
    do {
      entity = try names.entity(name, at: PredicateExplanation.place(of: name, in: name))
    } catch {
      throw CommandFailure(error, in: name)
    }
    do {
      try PredicateCheck(names: names, entity: entity).checkPaths(
        of: predicate, in: Word(text, at: PredicateExplanation.place(of: text, in: text)))
    } catch {
      throw CommandFailure(error, in: text)
    }
    do {
      try self.init(
        predicate: predicate,
        statement: FetchStatement(
          predicate: predicate, entity: entity, in: SQLModel(model: model)))
    } catch let refusal as FetchStatement.Refusal {
      throw PredicateExplanation.failure(refusal, in: text)
    }
  }

  private init(predicate: NSPredicate, statement: FetchStatement?) throws {
    format = predicate.predicateFormat
    tree = PredicateTree(predicate).lines
    self.statement = statement
  }

  private static func read(_ text: String) throws -> NSPredicate {
    do {
      return try PredicateCheck.predicate(text, at: Word(text, at: place(of: text, in: text)))
    } catch {
      throw CommandFailure(error, in: text)
    }
  }

  /// Where a part stands in a text; all of the text when it was written otherwise.
  private static func place(of part: String, in text: String) -> SourcePlace {
    guard let range = text.range(of: part) else {
      return SourcePlace(line: 1, column: 1, length: text.count)
    }
    let offset = text.distance(from: text.startIndex, to: range.lowerBound)
    return SourcePlace(line: 1, column: 1 + offset, length: part.count)
  }

  private static func failure(_ refusal: FetchStatement.Refusal, in text: String) -> CommandFailure
  {
    CommandFailure(
      LanguageProblem(
        "`\(refusal.piece)` has no SQL: \(sentence(refusal.reason))",
        at: place(of: refusal.piece, in: text), didYouMean: refusal.suggestion,
        nextStep: "write it otherwise, or fetch without it and filter in memory"), in: text)
  }

  private static func sentence(_ reason: String) -> String {
    reason.hasSuffix(".") ? String(reason.dropLast()) : reason
  }
}
