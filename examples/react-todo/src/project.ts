// The collections of http://localhost:8080/api/runtime/demo, as a sample of their records shows them.
// A record has id, ownerId, createdAt and updatedAt besides, which createClient<Project>() adds.

export interface Project {
  /** shared, 2 records */
  todos: Todos;
}

export interface Todos {
  done: boolean;
  title: string;
}
