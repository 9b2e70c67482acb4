import OpenCoreData
import ProfileEvents
import Synchronization
import Testing

@Suite("Call stacks")
struct CallStackTests {
  @Test("Stacks are recorded on request and symbolicated later")
  func fetchEventHasACallStackThatIsSymbolicatedLater() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let sink = StackSink()
    let context = try stack.coldContext(sinks: [sink])
    try context.performAndWait { _ = try Mood.fetch(in: context) }
    let fetch = try #require(sink.events.first { $0.kind == .fetch })
    #expect(fetch.stack.count > 5)
    let functions = fetch.stack.compactMap { CallStack.symbol(at: $0)?.function }
    #expect(
      functions.contains { $0.contains("SampleClass.fetch") }, "\(functions) \(fetch.stack)")
  }

  private final class StackSink: EventSink {
    private let list = Mutex<[Event]>([])

    var detail: EventDetail { .stacks }

    var events: [Event] { list.withLock { $0 } }

    func record(_ event: Event) {
      list.withLock { $0.append(event) }
    }
  }
}
