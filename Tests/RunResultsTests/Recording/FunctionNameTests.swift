import Testing

@testable import Profiling
@testable import RunResults

@Suite("Call stacks")
struct FunctionNameTests {
  @Test(arguments: [
    (
      "Workbench.Session.(perform in _300F405FB379)(Workbench.Step, Workbench.StepInput) throws -> Swift.String",
      "Session.perform(_:_:)", "Workbench"
    ),
    (
      "OpenCoreData.NSManagedObjectContext.fetch<A>(_: OpenCoreData.NSFetchRequest<A>, file: Swift.String, line: Swift.Int) throws -> Swift.Array<A>",
      "NSManagedObjectContext.fetch(_:file:line:)", "OpenCoreData"
    ),
    (
      "closure #1 () throws -> Swift.String in App.Session.(perform in _300F)(App.Step) throws -> Swift.String",
      "closure #1 in Session.perform(_:)", "App"
    ),
    (
      "function signature specialization <Arg[0] = [Closure Propagated : $s5hello4, Argument Types : [hello.Node]]> of generic specialization <Swift.Int> of hello.Node.walk<A>(A, () throws -> ()) throws -> ()",
      "Node.walk(_:_:)", "hello"
    ),
    (
      "partial apply forwarder for closure #1 () -> () in hello.go() -> ()", "closure #1 in go()",
      "hello"
    ),
    (
      "protocol witness for Swift.CustomStringConvertible.description.getter : Swift.String in conformance hello.S : Swift.CustomStringConvertible in hello",
      "CustomStringConvertible.description.getter", "Swift"
    ),
    (
      "(extension in App):Foundation.Date.days(until: Foundation.Date) -> Swift.Int",
      "Date.days(until:)", "App"
    ),
    ("App.list.getter : Swift.Array<App.Mood>", "list.getter", "App"),
    ("App.Store.init(url: Foundation.URL) throws -> App.Store", "Store.init(url:)", "App"),
    ("(3) suspend resume partial function for App.load() async throws -> ()", "load()", "App"),
    ("static App.Mood.fetch(in: (App.Context) -> App.Context) -> ()", "Mood.fetch(in:)", "App"),
    ("helper #1 (Swift.Int) -> () in App.run() -> ()", "helper in run()", "App"),
  ])
  func symbolsAreShortened(symbol: String, text: String, module: String) throws {
    let function = try #require(FunctionName(symbol))
    #expect(function.text == text)
    #expect(function.module == module)
  }

  @Test(
    arguments: [
      ("", ""), ("(", "("), ("main", "main"), ("a.(b", "()"), ("closure #1 in ", nil),
      ("<<<", "<<<"),
      ("_dispatch_call", "_dispatch_call"), ("A.b(c", "b()"), ("x.>y", ">y"), ("(1) ", "(1) "),
      ("A.", "A."),
    ] as [(String, String?)])
  func malformedSymbolsHaveAName(symbol: String, name: String?) {
    #expect(FunctionName(symbol)?.text == name)
  }

  @Test func stackBeginsAtTheCallerWithoutThunks() {
    let frames = StackText.frames([
      "closure #1 (inout Swift.UnsafeMutableBufferPointer<Swift.UInt>) -> () in static ProfileEvents.CallStack.addresses() -> Swift.Array<Swift.UInt>",
      "Swift.Array.init<A>(unsafeUninitializedCapacity: Swift.Int) -> Swift.Array<A>",
      "OpenCoreData.NSManagedObjectContext.fetch<A>(_: OpenCoreData.NSFetchRequest<A>) throws -> Swift.Array<A>",
      "partial apply forwarder for closure #1 () -> () in App.list() -> ()",
      "closure #1 () -> () in App.list() -> ()",
      "Dispatch.DispatchQueue.sync(execute: () -> ()) -> ()",
      "App.list() -> ()", "main", "(no symbol) libc.so.6 + 0x2724a",
    ])
    #expect(
      frames == ["closure #1 in list()", "DispatchQueue.sync(execute:)", "list()", "main"])
  }
}
