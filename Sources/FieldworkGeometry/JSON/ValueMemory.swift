/// The memory of the values that a reader of JSON makes, counted as it makes them: about what the heap gives for them, as texts
/// of up to 15 bytes have no place of their own there, and longer ones no more than their bytes in the document.
struct ValueMemory {
    /// An array or the members of an object, without them.
    static let container = 64
    /// A value in an array, with the room that arrays grow by.
    static let value = MemoryLayout<JSONValue>.stride * 3 / 2
    static let member = MemoryLayout<JSONObject.Member>.stride * 3 / 2

    private let most: Int
    private let allowance: WorkAllowance?
    private var held = 0
    private var charged = 0

    /// The work of the task is charged in such steps.
    private static let step = 1_024 * 1_024

    init(most: Int, isCharged: Bool) {
        self.most = most
        allowance = isCharged ? WorkAllowance.current : nil
    }

    /// - Returns: why there is no more; nil when it is taken.
    @inline(__always)
    mutating func take(_ size: Int) -> JSONError.Code? {
        held += size
        guard held <= most else { return .tooLarge }
        return held - charged > Self.step ? charge() : nil
    }

    private mutating func charge() -> JSONError.Code? {
        do throws(AllowanceError) {
            try allowance?.check()
            try allowance?.charge(held - charged)
            charged = held
            return nil
        } catch {
            return .refused(error)
        }
    }
}
