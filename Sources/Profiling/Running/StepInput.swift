import OpenCoreData
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The input of a step: the context it runs in, and the results it names.
struct StepInput {
  let context: NSManagedObjectContext
  /// The context's name.
  let contextName: String
  /// The objects of the step's subject; empty if it has none.
  let objects: StepObjects
  /// The results that the step's assignments, removals, and predicate name.
  let named: [String: StepObjects]
}

extension Session {
  /// Returns the input of a step.
  ///
  /// Call it before the step's `performAndWait` block: it gets the object IDs of objects of other
  /// contexts on their own queues.
  ///
  /// - Throws: An `NSError` if the step's context can't use the objects of a result.
  func input(of step: Step) throws -> StepInput {
    let name = knownNames.context(of: step)
    var named: [String: StepObjects] = [:]
    let names =
      (step.assignments + step.removals).filter { !$0.isExpression }.map(\.value)
      + step.predicateReferences.map(\.name)
    for value in names {
      guard let result = namedResults[value] else { continue }
      named[value] = try objects(of: result, called: value, in: name)
    }
    let subject = try namedResults[step.subject].map {
      try objects(of: $0, called: step.subject, in: name)
    }
    return StepInput(
      context: stack.context(name), contextName: name, objects: subject ?? .objects([]),
      named: named)
  }

  private func objects(
    of result: NamedResult, called name: String, in context: String
  ) throws -> StepObjects {
    switch result.content {
    case .save, .dictionaries: return .objects([])
    case .ids(let ids), .rows(_, let ids): return .ids(try adopt(ids, of: result, in: context))
    case .objects(let objects) where result.context == context: return .objects(objects)
    case .batched(let objects) where result.context == context: return .batched(objects)
    case .controller(let list) where result.context == context: return .controller(list)
    case .objects(let objects):
      let ids = stack.context(result.context).performAndWait { objects.map(\.objectID) }
      guard
        ids.allSatisfy({ !$0.isTemporaryID }) || knownNames.contains(context, in: result.context)
      else {
        throw StepInput.error(
          "`\(name)` contains objects that were never saved; the context `\(context)` can't use them. "
            + "Save them first.")
      }
      return .ids(try adopt(ids, of: result, in: context))
    case .batched, .controller:
      let kind = if case .batched = result.content { "batched result" } else { "controller" }
      throw StepInput.error(
        "`\(name)` is a \(kind), which belongs to the context `\(result.context)`. Fetch it in "
          + "`\(context)`, or fetch object IDs.")
    }
  }

  /// Returns the object IDs of the same rows for a context of another coordinator.
  private func adopt(
    _ ids: [NSManagedObjectID], of result: NamedResult, in context: String
  ) throws -> [NSManagedObjectID] {
    let (from, to) = (stack.shapes[result.context], stack.shapes[context])
    guard from?.coordinator != to?.coordinator,
      let coordinator = stack.context(context).persistentStoreCoordinator
    else { return ids }
    return ids.compactMap {
      coordinator.managedObjectID(forURIRepresentation: $0.uriRepresentation())
    }
  }
}

extension StepInput {
  /// Returns the predicate of a step, with the objects of the results that it refers to.
  ///
  /// - Throws: An `NSError` if a result has several objects or none where the predicate needs one;
  ///   a `PredicateSyntaxError` if the predicate can't be parsed.
  func predicate(of step: Step) throws -> NSPredicate? {
    guard let format = step.predicateFormat else { return nil }
    return try NSPredicate.parse(format, arguments: step.predicateReferences.map(value))
  }

  private func value(of reference: ResultReference) throws -> Any {
    let objects = named[reference.name] ?? .objects([])
    if reference.isList {
      return (0..<objects.count).map { objects.object(at: $0, in: context) }
    }
    guard objects.count == 1 else {
      throw StepInput.error(
        "`$\(reference.name)` is one object, but the result `\(reference.name)` has "
          + "\(NumberText.grouped(objects.count)). Fetch one, or write `IN $\(reference.name)`.")
    }
    return objects.object(at: 0, in: context)
  }

  /// Returns an error for a step that can't be performed.
  static func error(_ message: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSCoreDataError,
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}

/// The objects that a step works on, in a form that the step's context can use.
enum StepObjects {
  case objects([NSManagedObject])
  case batched(BatchedFetchResult<NSManagedObject>)
  case controller(ControlledList)
  /// The IDs of objects to get from the context.
  case ids([NSManagedObjectID])

  var count: Int {
    switch self {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .controller(let list): list.count
    case .ids(let ids): ids.count
    }
  }

  /// Returns the object at an index.
  ///
  /// **Cost:** for a batched result, one SELECT if the object's batch isn't loaded; otherwise,
  /// none.
  func object(at index: Int, in context: NSManagedObjectContext) -> NSManagedObject {
    switch self {
    case .objects(let objects): objects[index]
    case .batched(let objects): objects[index]
    case .controller(let list): list.object(at: index)
    case .ids(let ids): context.object(with: ids[index])
    }
  }

  /// Calls a closure with the objects, in the order of the indexes, and retains none of them.
  func forEach(
    at indexes: some Sequence<Int>, in context: NSManagedObjectContext,
    _ body: (NSManagedObject) throws -> Void
  ) rethrows {
    for index in indexes { try body(object(at: index, in: context)) }
  }

  /// Returns the object at an index modulo the count, or `nil` if there are no objects.
  func object(cycling index: Int, in context: NSManagedObjectContext) -> NSManagedObject? {
    count > 0 ? object(at: index % count, in: context) : nil
  }
}

/// A named result, retained until it's dropped.
struct NamedResult {
  /// The content of the result.
  enum Content {
    case objects([NSManagedObject])
    case batched(BatchedFetchResult<NSManagedObject>)
    case controller(ControlledList)
    case ids([NSManagedObjectID])
    case dictionaries([[String: Any]])
    /// A did-save notification, or `nil` if there was nothing to save.
    case save(Notification?)
    /// The object IDs that a batch request changed, with their key in a change notification.
    case rows(key: String, [NSManagedObjectID])
  }

  var content: Content
  /// The name of the entity that was fetched, inserted, or changed; empty for a save.
  var entity: String
  /// The name of the result's context.
  var context: String
  /// The fetch that returned the result, or `nil` if it isn't from a fetch.
  var fetch: Step?

  var shape: ResultShape {
    let kind: ResultShape.Kind =
      switch content {
      case .objects, .batched, .controller: .objects
      case .ids: .ids
      case .dictionaries: .dictionaries
      case .save: .save
      case .rows: .rows
      }
    return ResultShape(entity: entity, kind: kind, context: context)
  }

  var count: Int {
    switch content {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .controller(let list): list.count
    case .ids(let ids), .rows(_, let ids): ids.count
    case .dictionaries(let dictionaries): dictionaries.count
    case .save: 0
    }
  }
}

/// Records on which key path a step was reading when events occurred.
///
/// It's needed only if a step reaches one entity through several key paths, so that an event's
/// entity doesn't determine its path. **Cost:** two accesses to the recorder for each value read.
final class AccessPathRecorder {
  private let recorder: Recorder
  private let paths: [[StepContext.Path]]
  private(set) var routes: [StepContext.Route] = []

  /// Creates a recorder of access paths.
  ///
  /// - Parameters:
  ///   - recorder: The recorder of the session's events.
  ///   - paths: The paths to the objects on each key path of the step.
  init(recorder: Recorder, paths: [[StepContext.Path]]) {
    self.recorder = recorder
    self.paths = paths
  }

  /// Calls a closure that reads one key of an object, and records the route of the events that it
  /// causes.
  ///
  /// - Parameters:
  ///   - index: The index of the key path among those of the step.
  ///   - depth: The number of relationships before the key.
  ///   - body: The closure that reads the value.
  func reading(_ index: Int, at depth: Int, _ body: () -> Any?) -> Any? {
    guard depth > 0, paths[index].indices.contains(depth - 1) else { return body() }
    let before = recorder.mark
    let value = body()
    let after = recorder.mark
    if after > before {
      routes.append(
        StepContext.Route(after: before, through: after, path: paths[index][depth - 1]))
    }
    return value
  }
}
