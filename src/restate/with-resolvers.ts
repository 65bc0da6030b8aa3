interface PromiseMaker {
  withResolvers?: <T>() => {
    promise: Promise<T>
    resolve: (value: T | PromiseLike<T>) => void
    reject: (reason?: unknown) => void
  }
}

/** Adds `Promise.withResolvers`, which Restate's SDK calls and Node 20 does not have. */
export function addWithResolvers(): void {
  ;(Promise as PromiseMaker).withResolvers ??= <T>() => {
    let resolve: (value: T | PromiseLike<T>) => void = () => {}
    let reject: (reason?: unknown) => void = () => {}
    const promise = new Promise<T>((yes, no) => {
      resolve = yes
      reject = no
    })
    return { promise, resolve, reject }
  }
}
