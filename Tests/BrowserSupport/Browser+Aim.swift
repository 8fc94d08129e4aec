import Foundation

/// A click goes to coordinates. The page may change between measuring them and clicking, so that another element is hit. A listener in
/// the page looks at each click first, and stops one that does not hit the element that is meant.
extension Browser {
    /// A function of the page whose `this` is what the next click is meant for.
    static let aim = """
        function() {
          if (!window.fieldworkAim) {
            const names = ['pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click'];
            for (const name of names) addEventListener(name, (event) => {
              const { element, hit } = window.fieldworkAim;
              if (!element || !event.isTrusted) return;
              const at = event.composedPath()[0];
              const label = at.closest?.('label');
              if (hit === null) {
                window.fieldworkAim.hit = element.contains(at) || label?.control === element
                  || label?.contains(element) === true;
                window.fieldworkAim.at = at.outerHTML?.slice(0, 120) ?? '';
              }
              if (window.fieldworkAim.hit) return;
              event.preventDefault();
              event.stopImmediatePropagation();
            }, { capture: true, passive: false });
          }
          window.fieldworkAim = { element: this, hit: null, at: '' };
          return true;
        }
        """

    /// Takes the aim away, and says what was hit in its place: nothing where the click reached what was meant, or the page has gone.
    private static let missed = """
        (() => { const { hit = null, at = '' } = window.fieldworkAim ?? {};
        if (window.fieldworkAim) window.fieldworkAim = { element: null, hit: null, at: '' };
        return hit === false ? at || 'nothing' : ''; })()
        """

    /// Finds a thing and clicks it, again and again until the click reaches it.
    func untilHit(_ name: String, _ click: () async throws -> Void) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        var last: any Error = Failure(description: "\(name) can't be clicked")
        repeat {
            do {
                try await click()
                let other = (try? await evaluate(Self.missed, as: String.self)) ?? ""
                if other.isEmpty { return }
                last = Failure(description: "\(name) can't be clicked: in its place is \(other)")
            } catch {
                last = error
            }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline
        throw last
    }
}
