// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import ManagedModel

/// Records how to undo changes, in groups, and how to redo them.
///
/// Foundation has no undo manager on Linux. A context with one registers its changes automatically,
/// one group for each `processPendingChanges`. Used on one queue. Apple counterpart: `UndoManager`.
open class UndoManager: NSObject {
  private var undoStack: [UndoGroup] = []
  private var redoStack: [UndoGroup] = []
  /// Groups that were begun but not ended, the outermost first.
  private var openGroups: [UndoGroup] = []
  /// Whether the outermost open group was begun by a registration.
  private var isOpenByEvent = false
  private var disabled = 0

  /// Whether `undo` is currently undoing changes.
  public private(set) var isUndoing = false
  /// Whether `redo` is currently redoing changes.
  public private(set) var isRedoing = false
  /// Whether a registration outside of a group begins one automatically.
  ///
  /// On the main thread, such a group ends with the next turn of the main run loop or the main
  /// dispatch queue; elsewhere, and at the latest, with the next undo or the context's next
  /// `processPendingChanges`. If `false`, such a registration is a programmer error.
  open var groupsByEvent = true

  /// The maximum number of top-level groups; 0, the default, for no limit.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }

  // MARK: Groups

  /// The number of open groups.
  public var groupingLevel: Int { openGroups.count }

  /// Begins a group; registrations until its end are undone together.
  open func beginUndoGrouping() {
    if !openGroups.isEmpty { post(.NSUndoManagerCheckpoint) }
    openGroups.append(UndoGroup())
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  /// Ends the innermost group; an empty one is discarded.
  ///
  /// It's a programmer error if none is open.
  open func endUndoGrouping() {
    guard !openGroups.isEmpty else { fatalError("endUndoGrouping without beginUndoGrouping") }
    post(.NSUndoManagerCheckpoint)
    post(.NSUndoManagerWillCloseUndoGroup)
    let group = openGroups.removeLast()
    if let outer = openGroups.last {
      if !group.steps.isEmpty { outer.steps.append(.group(group)) }
    } else {
      isOpenByEvent = false
      if !group.steps.isEmpty { push(group) }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  /// Ends the group that a registration began automatically, if one is open.
  final func endEventGroup() {
    if isOpenByEvent, openGroups.count == 1, !isUndoing, !isRedoing { endUndoGrouping() }
  }

  /// Schedules the end of a group that a registration on the main thread began, for the main
  /// queue's next turn.
  private func endEventGroupLater() {
    guard MainQueue.isCurrent else { return }
    nonisolated(unsafe) weak let manager = self
    DispatchQueue.main.async { manager?.endEventGroup() }
  }

  // MARK: Registering

  /// Whether registrations are recorded.
  public var isUndoRegistrationEnabled: Bool { disabled == 0 }

  /// Disables registration until `enableUndoRegistration` was called as many times.
  open func disableUndoRegistration() {
    disabled += 1
  }

  /// Reverses one `disableUndoRegistration`; it's a programmer error if there was none.
  open func enableUndoRegistration() {
    guard disabled > 0 else { fatalError("enableUndoRegistration without disableUndoRegistration") }
    disabled -= 1
  }

  /// Registers how to undo a change; while undoing, how to redo it.
  ///
  /// The target isn't retained: after it was released, the handler isn't called. A registration
  /// that isn't made while undoing or redoing empties the redo stack.
  open func registerUndo<Target: AnyObject>(
    withTarget target: Target, handler: @escaping (Target) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if openGroups.isEmpty {
      guard groupsByEvent else {
        fatalError("begin a group before registering: groupsByEvent is false")
      }
      beginUndoGrouping()
      isOpenByEvent = true
      endEventGroupLater()
    }
    if !isUndoing, !isRedoing { redoStack = [] }
    let action = UndoAction(target: target) { [weak target] in
      if let target { handler(target) }
    }
    openGroups.last?.steps.append(.action(action))
  }

  // MARK: Undo and redo

  /// Whether there's a group to undo.
  public var canUndo: Bool {
    !undoStack.isEmpty || openGroups.contains { !$0.steps.isEmpty }
  }

  /// Whether there's a group to redo.
  public var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoStack.isEmpty
  }

  /// The number of top-level groups that can be undone.
  public var undoCount: Int { undoStack.count }

  /// The number of top-level groups that can be redone.
  public var redoCount: Int { redoStack.count }

  /// Ends an open top-level group and undoes the last one, if there is one.
  ///
  /// It's a programmer error to call it inside of nested groups.
  open func undo() {
    post(.NSUndoManagerCheckpoint)
    if groupingLevel == 1 { endUndoGrouping() }
    guard groupingLevel == 0 else { fatalError("undo inside of nested groups; end them first") }
    undoNestedGroup()
  }

  /// Undoes the last group without ending the open one: the last group inside of that, or, if it's
  /// empty, the last top-level group.
  ///
  /// Does nothing if the open group has an action after its last group.
  open func undoNestedGroup() {
    post(.NSUndoManagerCheckpoint)
    guard let group = takeLastGroup() else { return }
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    run(group)
    isUndoing = false
    post(.NSUndoManagerDidUndoChange)
  }

  /// Redoes the changes that the last `undo` undid, if there are any.
  open func redo() {
    post(.NSUndoManagerCheckpoint)
    guard let group = redoStack.popLast() else { return }
    guard groupingLevel == 0 else {
      fatalError("redo can't be called while an undo group is open; call endUndoGrouping() first")
    }
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    run(group)
    isRedoing = false
    post(.NSUndoManagerDidRedoChange)
  }

  // MARK: Forgetting

  /// Discards everything, including open groups.
  open func removeAllActions() {
    undoStack = []
    redoStack = []
    openGroups = []
    isOpenByEvent = false
    disabled = 0
  }

  /// Discards the registrations for a target.
  open func removeAllActions(withTarget target: Any) {
    let target = ObjectIdentifier(target as AnyObject)
    for group in undoStack + redoStack + openGroups { group.remove(target) }
    undoStack.removeAll(where: \.steps.isEmpty)
    redoStack.removeAll(where: \.steps.isEmpty)
  }

  // MARK: Names

  /// The name of the action that `undo` would undo; empty without one.
  public var undoActionName: String { (openGroups.first ?? undoStack.last)?.name ?? "" }

  /// The name of the action that `redo` would redo; empty without one.
  public var redoActionName: String { redoStack.last?.name ?? "" }

  /// Sets the name of the open group, or of the last one that was ended.
  ///
  /// If none is open, a context registers its pending changes first, which the name is for.
  open func setActionName(_ actionName: String) {
    if openGroups.isEmpty { post(.NSUndoManagerCheckpoint) }
    (openGroups.first ?? undoStack.last)?.name = actionName
  }

  /// `Undo` with the name of the action to undo.
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

  /// `Redo` with the name of the action to redo.
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// Returns `Undo` with a name.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// Returns `Redo` with a name.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  // MARK: Inside

  /// Runs the actions of a group in reverse order; what they register becomes the opposite group.
  private func run(_ group: UndoGroup) {
    let outer = openGroups
    openGroups = [UndoGroup(name: group.name)]
    group.run()
    // A context registers what the program's own actions have changed, unless one of them has
    // discarded everything.
    if !openGroups.isEmpty { post(.NSUndoManagerCheckpoint) }
    let opposite = openGroups.first
    openGroups = outer
    if let opposite, !opposite.steps.isEmpty { push(opposite) }
  }

  /// Removes and returns the group to undo next.
  private func takeLastGroup() -> UndoGroup? {
    guard let open = openGroups.last(where: { !$0.steps.isEmpty }) else {
      return undoStack.popLast()
    }
    guard case .group(let group)? = open.steps.last else { return nil }
    open.steps.removeLast()
    return group
  }

  private func push(_ group: UndoGroup) {
    if isUndoing {
      redoStack.append(group)
    } else {
      undoStack.append(group)
      trim()
    }
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
  }

  private func post(_ name: Notification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }
}

/// Actions that are undone together.
final class UndoGroup {
  /// An action, or a nested group.
  enum Step {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var steps: [Step] = []
  var name: String

  init(name: String = "") {
    self.name = name
  }

  /// Runs the actions in reverse order.
  func run() {
    for step in steps.reversed() {
      switch step {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }

  /// Discards the actions for a target.
  func remove(_ target: ObjectIdentifier) {
    steps.removeAll { step in
      switch step {
      case .action(let action): return action.target == target
      case .group(let group):
        group.remove(target)
        return group.steps.isEmpty
      }
    }
  }
}

/// A registered action.
struct UndoAction {
  let target: ObjectIdentifier
  let run: () -> Void

  init(target: AnyObject, run: @escaping () -> Void) {
    self.target = ObjectIdentifier(target)
    self.run = run
  }
}

/// The changes of one `processPendingChanges`.
struct UndoUnit {
  /// Each changed object's earlier state.
  var snapshots: [ObjectSnapshot] = []
  var relationships: [RelationshipChange] = []
  /// The many-to-many relationships between deleted objects.
  var mutual: [RelationshipChange] = []
  /// Objects that were inserted.
  var appeared: [NSManagedObject] = []
  /// Objects that were deleted.
  var vanished: [NSManagedObject] = []

  var isEmpty: Bool {
    snapshots.isEmpty && appeared.isEmpty && vanished.isEmpty
  }

  /// Adds changes that followed these, so that both are undone together.
  mutating func append(_ later: UndoUnit) {
    let known = Dictionary(
      snapshots.map { (ObjectIdentifier($0.object), $0) }, uniquingKeysWith: { first, _ in first })
    for snapshot in later.snapshots {
      if let earlier = known[ObjectIdentifier(snapshot.object)] {
        earlier.extend(by: snapshot)
      } else {
        snapshots.append(snapshot)
      }
    }
    // The later changes are undone first.
    relationships = later.relationships + relationships
    appeared += later.appeared
    guard !later.vanished.isEmpty else { return }
    vanished += later.vanished
    mutual += RelationshipChange.all(among: vanished, except: later.relationships)
  }
}

/// The changes of one undo group, retained by its action, until it's undone.
final class RegisteredUnit {
  /// The changes, to which a save adds what the delete rules change.
  var unit: UndoUnit

  init(_ unit: UndoUnit) {
    self.unit = unit
  }
}

// Core Data's names of an undo manager's notifications.

extension Notification.Name {
  /// Posted when an undo manager opens or closes a group, undoes, redoes, names an action, or is
  /// asked whether it can redo.
  ///
  /// Observers with changes to register do so.
  public static let NSUndoManagerCheckpoint = Notification.Name(
    "NSUndoManagerCheckpointNotification")
  /// Posted after an undo manager opened a group.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted when an undo manager is about to close a group.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted after an undo manager closed a group.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted when an undo manager is about to undo a group.
  public static let NSUndoManagerWillUndoChange = Notification.Name(
    "NSUndoManagerWillUndoChangeNotification")
  /// Posted after an undo manager undid a group.
  public static let NSUndoManagerDidUndoChange = Notification.Name(
    "NSUndoManagerDidUndoChangeNotification")
  /// Posted when an undo manager is about to redo a group.
  public static let NSUndoManagerWillRedoChange = Notification.Name(
    "NSUndoManagerWillRedoChangeNotification")
  /// Posted after an undo manager redid a group.
  public static let NSUndoManagerDidRedoChange = Notification.Name(
    "NSUndoManagerDidRedoChangeNotification")
}
