import OpenCoreData
import ScenarioLanguage

/// What a step is given in addition to its words: the context it runs in, and the results it names.
struct StepInput {
  let context: NSManagedObjectContext
  /// The context's name.
  let contextName: String
  /// The objects of the step's subject; empty when it has none.
  let objects: StepObjects
  /// The results that its assignments name.
  let named: [String: StepObjects]
}

extension Session {
  /// What a step is given, before its block begins: objects of other contexts become IDs here, on their
  /// own queues.
  ///
  /// - Throws: an `NSError` for objects that the step's context cannot know.
  func input(of step: Step) throws -> StepInput {
    let name = knownNames.context(of: step)
    var named: [String: StepObjects] = [:]
    for value in (step.assignments + step.removals).map(\.value) {
      guard let result = held[value] else { continue }
      named[value] = try objects(of: result, called: value, in: name)
    }
    let subject = try held[step.subject].map {
      try objects(of: $0, called: step.subject, in: name)
    }
    return StepInput(
      context: stack.context(name), contextName: name, objects: subject ?? .objects([]),
      named: named)
  }

  private func objects(
    of result: HeldResult, called name: String, in context: String
  ) throws -> StepObjects {
    switch result.content {
    case .save, .dictionaries: return .objects([])
    case .ids(let ids), .rows(_, let ids): return .ids(try adopt(ids, of: result, in: context))
    case .objects(let objects) where result.context == context: return .objects(objects)
    case .batched(let objects) where result.context == context: return .batched(objects)
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
    case .batched:
      throw StepInput.error(
        "`\(name)` is read in batches, which belong to the context `\(result.context)`. Fetch it in "
          + "`\(context)`, or fetch IDs.")
    }
  }

  /// IDs as a context of another coordinator names the same rows.
  private func adopt(
    _ ids: [NSManagedObjectID], of result: HeldResult, in context: String
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
  /// An error of a step that cannot be carried out.
  static func error(_ message: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSCoreDataError,
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}

/// The objects that a step works on, as the step's own context knows them.
enum StepObjects {
  case objects([NSManagedObject])
  case batched(BatchedFetchResult<NSManagedObject>)
  /// Objects of another context, or IDs: each is asked of the context by its ID.
  case ids([NSManagedObjectID])

  var count: Int {
    switch self {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .ids(let ids): ids.count
    }
  }

  /// One of them.
  ///
  /// Cost: of a batched result, one SELECT if its batch isn't loaded; otherwise nothing.
  func object(at index: Int, in context: NSManagedObjectContext) -> NSManagedObject {
    switch self {
    case .objects(let objects): objects[index]
    case .batched(let objects): objects[index]
    case .ids(let ids): context.object(with: ids[index])
    }
  }

  /// Passes objects to a body, in the order of the indexes, and retains none of them.
  func forEach(
    at indexes: some Sequence<Int>, in context: NSManagedObjectContext,
    _ body: (NSManagedObject) throws -> Void
  ) rethrows {
    for index in indexes { try body(object(at: index, in: context)) }
  }

  /// One object, counted round and round; nil when there is none.
  func object(cycling index: Int, in context: NSManagedObjectContext) -> NSManagedObject? {
    count > 0 ? object(at: index % count, in: context) : nil
  }
}

/// A named result, retained until it's dropped.
struct HeldResult {
  /// The content of the result.
  enum Content {
    case objects([NSManagedObject])
    case batched(BatchedFetchResult<NSManagedObject>)
    case ids([NSManagedObjectID])
    case dictionaries([[String: Any]])
    /// A save's did-save notification; nil when there was nothing to save.
    case save(Notification?)
    /// What a batch request did, under the key of its notification.
    case rows(key: String, [NSManagedObjectID])
  }

  var content: Content
  /// The entity that was fetched, inserted or changed; empty for a save.
  var entity: String
  /// The name of the context it belongs to.
  var context: String
  /// The fetch that brought it; nil for what no fetch brought.
  var fetch: Step?

  var shape: HeldShape {
    let kind: HeldShape.Kind =
      switch content {
      case .objects, .batched: .objects
      case .ids: .ids
      case .dictionaries: .dictionaries
      case .save: .save
      case .rows: .rows
      }
    return HeldShape(entity: entity, kind: kind, context: context)
  }

  var count: Int {
    switch content {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .ids(let ids), .rows(_, let ids): ids.count
    case .dictionaries(let dictionaries): dictionaries.count
    case .save: 0
    }
  }
}

/// Notes on which key path a step was reading while events happened.
///
/// Needed only where a step reaches one entity in several ways, so that an event's entity isn't enough to know
/// which; it costs two accesses of the recorder for each value read.
final class AccessPathRecorder {
  private let recorder: Recorder
  private let paths: [[StepContext.Path]]
  private(set) var routes: [StepContext.Route] = []

  /// - Parameter paths: for each key path of the step, the ways to the objects on it.
  init(recorder: Recorder, paths: [[StepContext.Path]]) {
    self.recorder = recorder
    self.paths = paths
  }

  /// Reads one key of an object.
  ///
  /// - Parameters:
  ///   - index: the key path's number among those of the step.
  ///   - depth: relationships passed before this key.
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
