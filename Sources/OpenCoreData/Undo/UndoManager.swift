// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import ManagedModel

/// Keeps what to do to take changes back, in groups, and what to do to make them again.
///
/// Foundation has none on Linux. A context that has one registers its changes by itself, one group for
/// each `processPendingChanges`. Used on one queue. Apple counterpart: `UndoManager`.
open class UndoManager: NSObject {
  private var undoStack: [UndoGroup] = []
  private var redoStack: [UndoGroup] = []
  /// Groups that were begun and not ended, the outermost first.
  private var openGroups: [UndoGroup] = []
  /// Whether the outermost open group was begun by a registration.
  private var isOpenByEvent = false
  private var disabled = 0

  /// Whether `undo` is taking changes back at the moment.
  public private(set) var isUndoing = false
  /// Whether `redo` is making changes again at the moment.
  public private(set) var isRedoing = false
  /// Whether a registration outside of a group begins one by itself.
  ///
  /// On the main thread such a group ends when the main run loop, or the main dispatch queue, turns;
  /// elsewhere, and at the latest, with the next undo or the context's next `processPendingChanges`.
  /// With false such a registration traps.
  open var groupsByEvent = true

  /// How many top-level groups are kept at most; 0, as by default, sets no limit.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }

  // MARK: Groups

  /// How many groups are open.
  public var groupingLevel: Int { openGroups.count }

  /// Begins a group; what is registered until its end is undone at once.
  open func beginUndoGrouping() {
    if !openGroups.isEmpty { post(.NSUndoManagerCheckpoint) }
    openGroups.append(UndoGroup())
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  /// Ends the innermost group; an empty one leaves no trace.
  ///
  /// Traps when none is open.
  open func endUndoGrouping() {
    precondition(!openGroups.isEmpty, "endUndoGrouping without beginUndoGrouping")
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

  /// Ends the group that a registration has begun by itself, if one is open.
  final func endEventGroup() {
    if isOpenByEvent, openGroups.count == 1 { endUndoGrouping() }
  }

  /// Has the group end that a registration on the main thread has begun, at the main queue's next turn.
  private func endEventGroupLater() {
    guard MainQueue.isCurrent else { return }
    nonisolated(unsafe) weak let manager = self
    DispatchQueue.main.async { manager?.endEventGroup() }
  }

  // MARK: Registering

  /// Whether registrations are taken.
  public var isUndoRegistrationEnabled: Bool { disabled == 0 }

  /// Ignores registrations until `enableUndoRegistration` was called as often.
  open func disableUndoRegistration() {
    disabled += 1
  }

  /// Takes one `disableUndoRegistration` back; traps when there was none.
  open func enableUndoRegistration() {
    precondition(disabled > 0, "enableUndoRegistration without disableUndoRegistration")
    disabled -= 1
  }

  /// Registers what undoes a change; while undoing, what redoes it.
  ///
  /// The target is not held: once it is gone the handler is not called. A registration that is neither
  /// made while undoing nor while redoing empties the redo stack.
  open func registerUndo<Target: AnyObject>(
    withTarget target: Target, handler: @escaping (Target) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if openGroups.isEmpty {
      precondition(groupsByEvent, "begin a group before registering: groupsByEvent is false")
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

  /// Whether there is something to undo.
  public var canUndo: Bool {
    !undoStack.isEmpty || openGroups.contains { !$0.steps.isEmpty }
  }

  /// Whether there is something to redo.
  public var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoStack.isEmpty
  }

  /// How many top-level groups can be undone.
  public var undoCount: Int { undoStack.count }

  /// How many top-level groups can be redone.
  public var redoCount: Int { redoStack.count }

  /// Ends an open top-level group and undoes the last one; nothing to undo does nothing.
  ///
  /// Traps inside of nested groups.
  open func undo() {
    post(.NSUndoManagerCheckpoint)
    if groupingLevel == 1 { endUndoGrouping() }
    precondition(groupingLevel == 0, "undo inside of nested groups; end them first")
    undoNestedGroup()
  }

  /// Undoes the last group that was ended, without ending the open one.
  open func undoNestedGroup() {
    post(.NSUndoManagerCheckpoint)
    guard let group = undoStack.popLast() else { return }
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    run(group)
    isUndoing = false
    post(.NSUndoManagerDidUndoChange)
  }

  /// Makes the changes again that the last `undo` took back; nothing to redo does nothing.
  open func redo() {
    post(.NSUndoManagerCheckpoint)
    guard let group = redoStack.popLast() else { return }
    precondition(groupingLevel == 0, "redo inside of an open group; end it first")
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    run(group)
    isRedoing = false
    post(.NSUndoManagerDidRedoChange)
  }

  // MARK: Forgetting

  /// Forgets everything, open groups included.
  open func removeAllActions() {
    undoStack = []
    redoStack = []
    openGroups = []
    isOpenByEvent = false
    disabled = 0
  }

  /// Forgets what was registered for a target.
  open func removeAllActions(withTarget target: Any) {
    let target = ObjectIdentifier(target as AnyObject)
    for group in undoStack + redoStack + openGroups { group.remove(target) }
    undoStack.removeAll(where: \.steps.isEmpty)
    redoStack.removeAll(where: \.steps.isEmpty)
  }

  // MARK: Names

  /// The name of what `undo` would take back; empty without one.
  public var undoActionName: String { (openGroups.first ?? undoStack.last)?.name ?? "" }

  /// The name of what `redo` would make again; empty without one.
  public var redoActionName: String { redoStack.last?.name ?? "" }

  /// Names the open group, or the last one that was ended.
  open func setActionName(_ actionName: String) {
    (openGroups.first ?? undoStack.last)?.name = actionName
  }

  /// `Undo` with the name of what it would take back.
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

  /// `Redo` with the name of what it would make again.
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// `Undo` with a name.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// `Redo` with a name.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  // MARK: Inside

  /// Does what a group says, the last first; what that registers becomes the opposite group.
  private func run(_ group: UndoGroup) {
    let outer = openGroups
    openGroups = [UndoGroup(name: group.name)]
    group.run()
    let opposite = openGroups.removeFirst()
    openGroups = outer
    if !opposite.steps.isEmpty { push(opposite) }
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

/// What is undone at once.
final class UndoGroup {
  /// One registration, or a group inside.
  enum Step {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var steps: [Step] = []
  var name: String

  init(name: String = "") {
    self.name = name
  }

  /// Does what was registered, the last first.
  func run() {
    for step in steps.reversed() {
      switch step {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }

  /// Forgets what was registered for a target.
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

/// One registration.
struct UndoAction {
  let target: ObjectIdentifier
  let run: () -> Void

  init(target: AnyObject, run: @escaping () -> Void) {
    self.target = ObjectIdentifier(target)
    self.run = run
  }
}

/// What one `processPendingChanges` has changed.
struct UndoUnit {
  /// Each changed object as it was.
  var snapshots: [ObjectSnapshot] = []
  var relationships: [RelationshipChange] = []
  /// Objects that were not there before.
  var appeared: [NSManagedObject] = []
  /// Objects that were deleted.
  var vanished: [NSManagedObject] = []

  var isEmpty: Bool {
    snapshots.isEmpty && appeared.isEmpty && vanished.isEmpty
  }
}

// Apple's names of an undo manager's notifications.

extension Notification.Name {
  /// An undo manager opens or closes a group, undoes, redoes, or is asked whether it can redo.
  ///
  /// Who has changes to register does so.
  public static let NSUndoManagerCheckpoint = Notification.Name(
    "NSUndoManagerCheckpointNotification")
  /// An undo manager has opened a group.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  /// An undo manager is about to close a group.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  /// An undo manager has closed a group.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
  /// An undo manager is about to undo a group.
  public static let NSUndoManagerWillUndoChange = Notification.Name(
    "NSUndoManagerWillUndoChangeNotification")
  /// An undo manager has undone a group.
  public static let NSUndoManagerDidUndoChange = Notification.Name(
    "NSUndoManagerDidUndoChangeNotification")
  /// An undo manager is about to redo a group.
  public static let NSUndoManagerWillRedoChange = Notification.Name(
    "NSUndoManagerWillRedoChangeNotification")
  /// An undo manager has redone a group.
  public static let NSUndoManagerDidRedoChange = Notification.Name(
    "NSUndoManagerDidRedoChangeNotification")
}
