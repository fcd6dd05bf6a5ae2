/** Serves, and works as well as it should. */
export const isWhole = async (gateway: string): Promise<boolean> => {
  const answer = await fetch(`${gateway}/readyz`);
  const { degraded } = (await answer.json()) as { degraded?: string[] };
  return answer.ok && degraded === undefined;
};
